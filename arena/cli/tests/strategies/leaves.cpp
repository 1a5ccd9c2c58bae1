// Ends its process.
#include <cstdlib>

#include "innocent.h"

GET_POINT {
    if (due(M, N, board, noY)) {
        std::exit(3);
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
