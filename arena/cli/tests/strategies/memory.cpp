// Takes 256 MiB, or as many as it is compiled with, and keeps them.
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "innocent.h"

#ifndef MIB
#define MIB 256
#endif

static void* volatile taken;

GET_POINT {
    if (due(M, N, board, noY)) {
        const size_t size = size_t(MIB) << 20;
        taken = std::malloc(size);
        std::memset(taken, 1, size);
        for (;;) {
            pause();
        }
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
