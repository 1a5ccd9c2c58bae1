// Reads through a null pointer while it frees.
#include "innocent.h"

static bool now = false;

GET_POINT {
    now = due(M, N, board, noY);
    return leftmost(N, top);
}
CLEAR_POINT {
    if (now) {
        volatile int* nowhere = nullptr;
        *nowhere = 1;
    }
    delete p;
}
