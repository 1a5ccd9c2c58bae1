# A bot in C++. `arena bots dockerfile` wrote this file, and you may change it.
#
# Compile the program before, on the distribution of BASE: it needs the same versions of its
# libraries there.

ARG BASE=debian:bookworm-slim
FROM ${BASE}
# The libraries of gRPC, unless BASE has them. Add others that the program is linked with.
RUN ldconfig -p | grep -q 'libgrpc++.so' \
    || { apt-get update \
        && apt-get install -y --no-install-recommends libgrpc++1.51 \
        && rm -rf /var/lib/apt/lists/*; }
WORKDIR /bot
# Add the files that it reads, here and in .dockerignore.
COPY --chown=10001:10001 {main} /bot/program
USER 10001:10001
ENV BOT_LISTEN=tcp:0.0.0.0:50051
EXPOSE 50051
# A list and no shell, so that SIGTERM reaches the bot. The kit handles it; a bot without
# the kit must do so itself, as process 1 has no default for it.
ENTRYPOINT ["/bot/program"]
