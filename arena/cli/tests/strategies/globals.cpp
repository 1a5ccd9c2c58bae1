// Keeps the whole game in globals, and ends where they are not what they should
// be: as they were at the start, or one move on.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "innocent.h"

static std::vector<Point> played;

GET_POINT {
    if (moves(M, N, board) != static_cast<int>(played.size())) {
        std::fprintf(stderr, "another game is in the globals\n");
        std::abort();
    }
    Point* point = leftmost(N, top);
    played.push_back(*point);
    return point;
}
CLEAR_POINT { delete p; }
