// Writes to a connection that is not its own, in its third turn.
#include <unistd.h>

#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        if (++turns == 3 && write(3, "12 or so", 8) != 8) exit(7);
        return SimpleBrain::requestDiscard();
    }

private:
    int turns = 0;
};
