# PostgreSQL as the store of an arena, with TLS: ../compose uses it. Built by `cargo xtask images`:
# ../README.md.

ARG BASE=debian:bookworm-slim
FROM ${BASE}
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="postgres" \
      org.opencontainers.image.description="Debian's PostgreSQL as the store of an arena" \
      org.opencontainers.image.licenses="Apache-2.0 AND PostgreSQL" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
# Debian's packages, unless the base has them. Data belongs into a volume, so none is made here.
RUN ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || { \
        mkdir -p /etc/postgresql-common && \
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf && \
        apt-get update && \
        DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
            --option Dpkg::Options::=--force-confold postgresql openssl && \
        rm -rf /var/lib/apt/lists/*; \
    }
# initdb runs only as a user with a name.
RUN groupadd --gid 10001 arena && \
    useradd --uid 10001 --gid 10001 --no-create-home --home-dir / --shell /usr/sbin/nologin arena
# The program that starts it, its configuration, and a folder for data.
ADD rootfs.tar /
USER 10001:10001
# For psql, pg_dump and pg_restore in the container.
ENV PGHOST=/tmp PGUSER=arena PGDATABASE=arena
EXPOSE 5432
# Connections are ended at once; SIGTERM would wait until clients leave.
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/local/bin/start-postgres"]
