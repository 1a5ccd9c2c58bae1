// Calls a function that is nowhere.
#include "innocent.h"

extern "C" void nowhere_to_be_found();

GET_POINT {
    if (due(M, N, board, noY)) {
        nowhere_to_be_found();
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
