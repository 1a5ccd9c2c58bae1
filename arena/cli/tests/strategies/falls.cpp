// Crashes while it is loaded.
#include "innocent.h"

static int crash() {
    volatile int* nowhere = nullptr;
    *nowhere = 1;
    return 0;
}
static int never = crash();

GET_POINT { return leftmost(N, top); }
CLEAR_POINT { delete p; }
