# A bot in Rust. `arena bots dockerfile` wrote this file, and you may change it.
#
# Compile the program before, on a Linux whose C library is not newer than that of BASE. A
# static program runs without a base:
#
#   RUSTFLAGS='-C target-feature=+crt-static' \
#       cargo build --release --target x86_64-unknown-linux-gnu
#   docker build --build-arg BASE=scratch ...

ARG BASE=debian:bookworm-slim
FROM ${BASE}
WORKDIR /bot
# Add the files that it reads, here and in .dockerignore.
COPY --chown=10001:10001 {main} /bot/program
USER 10001:10001
ENV BOT_LISTEN=tcp:0.0.0.0:50051
EXPOSE 50051
# A list and no shell, so that SIGTERM reaches the bot. The kit handles it; a bot without
# the kit must do so itself, as process 1 has no default for it.
ENTRYPOINT ["/bot/program"]
