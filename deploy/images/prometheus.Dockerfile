# Prometheus for an arena: ../compose uses it. Built by `cargo xtask images`: ../README.md.

ARG BASE=debian:bookworm-slim
FROM ${BASE}
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="prometheus" \
      org.opencontainers.image.description="Debian's Prometheus, to watch an arena" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
# Debian's package, unless the base has it.
RUN [ -x /usr/bin/prometheus ] || { \
        apt-get update && \
        DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends prometheus && \
        rm -rf /var/lib/apt/lists/*; \
    }
# A folder for data.
ADD rootfs.tar /
USER 10001:10001
EXPOSE 9090
# Its configuration comes from outside. The oldest data is removed when there is too much.
ENTRYPOINT ["/usr/bin/prometheus", "--config.file=/etc/prometheus/prometheus.yml", \
            "--storage.tsdb.path=/data", "--storage.tsdb.retention.time=30d", \
            "--storage.tsdb.retention.size=1GB", "--log.format=json"]
CMD []
