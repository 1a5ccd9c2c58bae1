// Closes what it did not open, in its third turn.
#include <unistd.h>

#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        if (++turns == 3) for (int file = 3; file < 100; ++file) close(file);
        return SimpleBrain::requestDiscard();
    }

private:
    int turns = 0;
};
