// Can't be made.
#include <stdexcept>

#include "brain.h"

class MyBrain : public SimpleBrain {
public:
    MyBrain() { throw std::runtime_error("no luck today"); }
};
