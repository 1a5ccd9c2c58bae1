// Throws while it is loaded.
#include <stdexcept>

#include "innocent.h"

struct Table {
    Table() { throw std::runtime_error("there is no table"); }
} table;

GET_POINT { return leftmost(N, top); }
CLEAR_POINT { delete p; }
