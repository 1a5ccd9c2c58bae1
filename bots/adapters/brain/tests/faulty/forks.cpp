// Ends in its third turn, and leaves a process behind that keeps open all that it had.
#include <unistd.h>

#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        if (hand.size() == 14 && ++turns == 3) {
            if (fork() == 0) for (;;) pause();
            exit(7);
        }
        return SimpleBrain::requestDiscard();
    }

private:
    int turns = 0;
};
