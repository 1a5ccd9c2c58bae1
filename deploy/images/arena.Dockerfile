# The command line, with the built-in bots in it. Built by `cargo xtask images`: ../README.md.

FROM scratch
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="arena" \
      org.opencontainers.image.description="Runs bots against each other and shows how it went" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
# All files, with their owners; a list of the packages is in
# /usr/share/bot-arena/sbom.cdx.json.
ADD rootfs.tar /
USER 10001:10001
# Bots are unpacked there. Log lines are objects for programs.
ENV ARENA_CACHE=/tmp/cache ARENA_LOG_FORMAT=json
# Records go to ./arena-runs.
WORKDIR /data
# SIGTERM: what runs is finished; a second one cuts it off.
ENTRYPOINT ["/usr/local/bin/arena"]
CMD ["--help"]
