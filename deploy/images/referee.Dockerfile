# The referee: as a service, or as a worker of an arena (`work`). Built by `cargo xtask images`: ../README.md.

FROM scratch
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="referee" \
      org.opencontainers.image.description="Plays games between bots over gRPC and says who broke which rule" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
# All files, with their owners; a list of the packages is in
# /usr/share/bot-arena/sbom.cdx.json.
ADD rootfs.tar /
USER 10001:10001
# `work` unpacks bots there. Log lines are objects for programs.
ENV REFEREE_LISTEN=0.0.0.0:50050 ARENA_CACHE=/tmp/cache ARENA_LOG_FORMAT=json
EXPOSE 50050
# SIGTERM: it takes no new game, and cuts off what runs after REFEREE_GRACE.
ENTRYPOINT ["/usr/local/bin/referee"]
CMD ["serve"]
