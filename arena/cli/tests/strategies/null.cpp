// Returns no point.
#include "innocent.h"

GET_POINT { return due(M, N, board, noY) ? nullptr : leftmost(N, top); }
CLEAR_POINT { delete p; }
