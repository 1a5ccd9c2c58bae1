# What entries of contests are built and checked in on Kubernetes: compilers, the kits for C++ and Python,
# and a program that waits for sources. Built by `cargo xtask images`: ../README.md.

ARG BASE=debian:bookworm-slim
FROM ${BASE}
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="builder" \
      org.opencontainers.image.description="Builds the sources of one bot, for an arena, and hosts it" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
# Debian's packages, unless the base has them.
RUN { [ -x /usr/bin/python3 ] && [ -x /usr/bin/node ] && [ -x /usr/bin/g++ ]; } || { \
        apt-get update && \
        DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
            python3 nodejs g++ libc6-dev cmake make pkgconf libgrpc++-dev libprotobuf-dev \
            protobuf-compiler protobuf-compiler-grpc && \
        rm -rf /var/lib/apt/lists/*; \
    }
# Our programs, the kit for Python, and the sources of the kit for C++ and of the adapter for brains;
# a list of the packages in the programs is in /usr/share/bot-arena/sbom.cdx.json.
ADD rootfs.tar /
# Both are compiled here, by the compiler that entries are compiled with. Without CMake there are none.
RUN ! [ -x /usr/bin/cmake ] || { \
        cd /opt/bot-arena && \
        cmake -S bots -B target/languages/cpp -DCMAKE_BUILD_TYPE=Release -DBOTS_TESTS=OFF && \
        cmake --build target/languages/cpp --parallel --target bot_arena_kit brain_harness; \
    }
USER 10001:10001
ENV PYTHONPATH=/opt/bot/site-packages PYTHONDONTWRITEBYTECODE=1
# The pod is the sandbox. What was built is unpacked below ARENA_CACHE, to be checked.
ENV BOT_LISTEN=tcp:0.0.0.0:50051 ARENA_CACHE=/tmp/bot ARENA_KITS=/opt/bot-arena ARENA_SANDBOX=off
EXPOSE 50051
# It is the first process: nothing in its container can kill it. It answers one call.
ENTRYPOINT ["/usr/local/bin/arena-serve", "builder"]
CMD []
