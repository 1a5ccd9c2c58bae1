# A bot of the house, reached over TCP. Build and run: ../README.md.

FROM rust:1.95.0-slim-bookworm AS build
# The version of rust-toolchain.toml, but not the components that it asks for:
# nothing here needs clippy or rustfmt.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist -p house-bots --bin bot

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="bot" \
      org.opencontainers.image.description="A bot of the house: a gRPC service that plays" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /src/target/dist/bot /usr/local/bin/bot
USER 10001:10001
ENV BOT_LISTEN=tcp:0.0.0.0:50051
EXPOSE 50051
# SIGTERM: it takes no new game, and ends at the latest 5 s later.
ENTRYPOINT ["bot"]
CMD ["random"]
