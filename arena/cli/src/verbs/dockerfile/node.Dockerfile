# A bot in Node. `arena bots dockerfile` wrote this file, and you may change it.
#
# With a package-lock.json npm installs here what the bot needs. Without one the folder
# node_modules is copied as it is.

ARG BASE=node:22-bookworm-slim
FROM ${BASE}
WORKDIR /bot
{install}COPY --chown=10001:10001 . .
USER 10001:10001
ENV BOT_LISTEN=tcp:0.0.0.0:50051
EXPOSE 50051
# A list and no shell, so that SIGTERM reaches the bot. It must handle it, as process 1 has
# no default for it.
ENTRYPOINT ["node", "/bot/{main}"]
