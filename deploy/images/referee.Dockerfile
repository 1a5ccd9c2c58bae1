# The referee as a service. Build and run: ../README.md.

FROM rust:1.95.0-slim-bookworm AS build
# The version of rust-toolchain.toml, but not the components that it asks for:
# nothing here needs clippy or rustfmt.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist -p referee-cli --bin referee

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="referee" \
      org.opencontainers.image.description="Plays games between bots over gRPC and says who broke which rule" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /src/target/dist/referee /usr/local/bin/referee
USER 10001:10001
ENV REFEREE_LISTEN=0.0.0.0:50050
EXPOSE 50050
# SIGTERM: it takes no new game, and cuts off what runs after REFEREE_GRACE.
ENTRYPOINT ["referee"]
CMD ["serve"]
