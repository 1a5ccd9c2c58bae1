// Does nothing wrong.
#include "innocent.h"

GET_POINT { return leftmost(N, top); }
CLEAR_POINT { delete p; }
