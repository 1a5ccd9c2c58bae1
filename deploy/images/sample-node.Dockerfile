# The sample `random` in Node, on an image with Node. Built by `cargo xtask images`:
# ../README.md.

ARG BASE=node:22-bookworm-slim
FROM ${BASE}
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="sample-node" \
      org.opencontainers.image.description="A bot in JavaScript with the kit: it plays at random" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
# All files of the bot; a list of the packages that come with it is in
# /usr/share/bot-arena/sbom.cdx.json.
ADD rootfs.tar /
USER 10001:10001
ENV BOT_LISTEN=tcp:0.0.0.0:50051
EXPOSE 50051
# SIGTERM: it takes no new game, and ends at the latest 5 s later. bot-init passes that on, and
# starts the bot again when it has crashed (BOT_RESTART=never: no).
ENTRYPOINT ["/usr/local/bin/bot-init", "node", "/opt/bot/random.js"]
CMD []
