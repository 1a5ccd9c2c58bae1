// Thinks for a tenth of a second where clock() counts thousandths, and prints the
// processor time that it took in microseconds.
#include <cstdio>
#include <ctime>

#include "innocent.h"

static long spent() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

GET_POINT {
    long before = spent();
    clock_t begin = clock();
    while (clock() - begin < 100) {
    }
    std::printf("thought %ld\n", spent() - before);
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
