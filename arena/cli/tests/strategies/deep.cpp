// Recurs without an end.
#include "innocent.h"

static int dig(volatile int* from, int depth) {
    volatile int hole[1000];
    hole[depth % 1000] = *from + depth;
    return dig(hole, depth + 1) + hole[0];
}

GET_POINT {
    if (due(M, N, board, noY)) {
        volatile int top = 0;
        return new Point{dig(&top, 0), 0};
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
