# What plays compiled strategies for Connect Four: shared objects with getPoint and clearPoint.
# `arena bots dockerfile --lang strategy` puts one on it. Built by `cargo xtask images`: ../README.md.

ARG BASE=debian:bookworm-slim
FROM ${BASE}
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="strategy" \
      org.opencontainers.image.description="Plays a compiled Connect Four strategy as a bot" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
# All files of the program; a list of the packages in it is in
# /usr/share/bot-arena/sbom.cdx.json.
ADD rootfs.tar /
USER 10001:10001
ENV BOT_LISTEN=tcp:0.0.0.0:50051
EXPOSE 50051
# SIGTERM: it takes no new game, and ends at the latest 5 s later. bot-init passes that on, and
# starts the bot again when it has crashed (BOT_RESTART=never: no).
ENTRYPOINT ["/usr/local/bin/bot-init", "/usr/local/bin/strategy"]
CMD ["/bot/strategy.so"]
