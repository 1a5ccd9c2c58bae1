// Prints while it is loaded, calls a function that is nowhere, and lacks clearPoint.
#include <cstdio>

#include "innocent.h"

extern "C" void nowhere_to_be_found();

struct Talks {
    Talks() {
        // The C library holds this back until it is flushed.
        std::printf("loaded, by the C library\n");
        std::fprintf(stderr, "loaded, at once\n");
        std::printf("not the end of a line");
    }
} talks;

GET_POINT {
    nowhere_to_be_found();
    return leftmost(N, top);
}
