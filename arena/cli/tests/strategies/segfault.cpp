// Reads through a null pointer while it thinks.
#include "innocent.h"

GET_POINT {
    if (due(M, N, board, noY)) {
        volatile int* nowhere = nullptr;
        *nowhere = 1;
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
