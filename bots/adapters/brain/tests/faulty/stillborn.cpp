// Throws before there is a brain at all.
#include <stdexcept>

#include "brain.h"

int table() { throw std::runtime_error("no such table"); }
const int TABLE = table();

class MyBrain : public SimpleBrain {};
