# A compiled strategy for Connect Four. `arena bots dockerfile` wrote this file, and you may change
# it.
#
# Compile it before, on the distribution of the image below: g++ -shared -fPIC -O2 -o {main} my.cpp.
# `cargo xtask images strategy` in the arena's sources builds that image.

ARG STRATEGY=localhost/bot-arena/strategy
FROM ${STRATEGY}
COPY --chown=10001:10001 {main} /bot/strategy.so
# Parameters follow the file, as in /bot/strategy.so?clock-scale=1000.
CMD ["/bot/strategy.so"]
