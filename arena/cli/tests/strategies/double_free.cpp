// Frees a point twice.
#include "innocent.h"

static bool now = false;

GET_POINT {
    now = due(M, N, board, noY);
    return leftmost(N, top);
}
CLEAR_POINT {
    // So that the compiler can't know what it is.
    Point* volatile again = p;
    delete p;
    if (now) {
        delete again;
    }
}
