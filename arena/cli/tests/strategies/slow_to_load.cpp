// Takes its time to be loaded: more than for a move, and less than to start.
#include <chrono>
#include <thread>

#include "innocent.h"

static const bool loaded = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    return true;
}();

GET_POINT { return loaded ? leftmost(N, top) : nullptr; }
CLEAR_POINT { delete p; }
