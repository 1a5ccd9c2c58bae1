// Has one of the two functions.
#include "innocent.h"

GET_POINT { return leftmost(N, top); }
