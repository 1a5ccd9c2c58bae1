# A bot in Python. `arena bots dockerfile` wrote this file, and you may change it.
#
# What the bot imports is in the folder site-packages beside it, as
# `pip install --target site-packages ...` writes it, by the same version of Python as
# that of BASE; or in requirements.txt, which is installed here.

ARG BASE=python:3.11-slim-bookworm
FROM ${BASE}
WORKDIR /bot
{install}COPY --chown=10001:10001 . .
USER 10001:10001
# The root may be read-only: nothing is written.
ENV PYTHONPATH=/bot/site-packages PYTHONDONTWRITEBYTECODE=1
ENV BOT_LISTEN=tcp:0.0.0.0:50051
EXPOSE 50051
# A list and no shell, so that SIGTERM reaches the bot. The kit handles it; a bot without
# the kit must do so itself, as process 1 has no default for it.
ENTRYPOINT ["python3", "/bot/{main}"]
