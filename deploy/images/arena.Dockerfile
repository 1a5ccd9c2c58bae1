# The command line, with the bots of the house in it. Build and run:
# ../README.md.

FROM rust:1.95.0-slim-bookworm AS build
# The version of rust-toolchain.toml, but not the components that it asks for:
# nothing here needs clippy or rustfmt.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist -p arena --bin arena

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="arena" \
      org.opencontainers.image.description="Runs bots against each other and shows how it went" \
      org.opencontainers.image.licenses="Apache-2.0"
# Records go to ./arena-runs.
RUN install --directory --owner=10001 --group=10001 /data
COPY --from=build /src/target/dist/arena /usr/local/bin/arena
USER 10001:10001
WORKDIR /data
# SIGTERM: what runs is finished; a second one cuts it off.
ENTRYPOINT ["arena"]
CMD ["--help"]
