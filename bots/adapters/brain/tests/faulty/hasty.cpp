// Throws while more is being said to it.
#include <stdexcept>

#include "brain.h"

class MyBrain : public SimpleBrain {
public:
    void getDraw(Tile) override { throw std::runtime_error("too many tiles"); }
};
