// Writes to nowhere in its third turn.
#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        if (hand.size() == 14 && ++turns == 3) *static_cast<volatile int*>(nullptr) = 1;
        return SimpleBrain::requestDiscard();
    }

private:
    int turns = 0;
};
