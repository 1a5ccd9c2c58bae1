# What packed bots play in on Kubernetes: languages, the kit for Python, gRPC for bots with the kit for C++,
# and a program that waits for the bot.
# Built by `cargo xtask images`: ../README.md.

ARG BASE=debian:bookworm-slim
FROM ${BASE}
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="host" \
      org.opencontainers.image.description="Waits for a packed bot, which its referee hands over, and becomes it" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
# Debian's packages, unless the base has them. What is added here belongs into host.provides of
# kubernetes.toml too.
RUN { [ -x /usr/bin/python3 ] && [ -x /usr/bin/node ]; } || { \
        apt-get update && \
        DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
            python3 nodejs libstdc++6 libgrpc++1.51 && \
        rm -rf /var/lib/apt/lists/*; \
    }
# Our programs and the kit for Python; a list of the packages in them is in
# /usr/share/bot-arena/sbom.cdx.json.
ADD rootfs.tar /
USER 10001:10001
ENV PYTHONPATH=/opt/bot/site-packages PYTHONDONTWRITEBYTECODE=1
# The bot is unpacked there, and started again from there when it has crashed.
ENV BOT_LISTEN=tcp:0.0.0.0:50051 ARENA_CACHE=/tmp/bot
EXPOSE 50051
# bot-init passes SIGTERM on, and starts the bot again when it has crashed (BOT_RESTART=never: no).
ENTRYPOINT ["/usr/local/bin/bot-init", "/usr/local/bin/referee", "host"]
CMD []
