// Plays beside the board.
#include "innocent.h"

GET_POINT {
    if (due(M, N, board, noY)) {
        return new Point{-5, 1000};
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
