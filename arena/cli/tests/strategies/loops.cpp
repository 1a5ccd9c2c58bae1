// Never comes back.
#include "innocent.h"

GET_POINT {
    if (due(M, N, board, noY)) {
        for (volatile bool on = true; on;) {
        }
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
