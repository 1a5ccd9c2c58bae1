// Throws, and nobody catches.
#include <stdexcept>

#include "innocent.h"

GET_POINT {
    if (due(M, N, board, noY)) {
        throw std::runtime_error("the tree is too deep");
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
