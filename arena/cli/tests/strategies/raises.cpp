// Raises what a fault of memory would.
#include <csignal>

#include "innocent.h"

GET_POINT {
    if (due(M, N, board, noY)) {
        raise(SIGSEGV);
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
