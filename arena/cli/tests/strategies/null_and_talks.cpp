// Says why it has no point.
#include <cstdio>

#include "innocent.h"

GET_POINT {
    std::printf("no column is left");
    return nullptr;
}
CLEAR_POINT {}
