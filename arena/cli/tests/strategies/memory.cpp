// Takes 256 MiB and keeps them.
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "innocent.h"

static void* volatile taken;

GET_POINT {
    if (due(M, N, board, noY)) {
        const size_t size = 256 << 20;
        taken = std::malloc(size);
        std::memset(taken, 1, size);
        for (;;) {
            pause();
        }
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
