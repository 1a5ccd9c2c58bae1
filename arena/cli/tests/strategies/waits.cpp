// Takes a quarter of a second for each point, whatever the limit is.
#include <unistd.h>

#include "innocent.h"

GET_POINT {
    usleep(250000);
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
