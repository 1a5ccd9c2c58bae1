// Forgets extern "C".
#include "innocent.h"

Point* getPoint(const int, const int N, const int* top, const int*, const int, const int,
                const int, const int) {
    return leftmost(N, top);
}
void clearPoint(Point* p) { delete p; }
