// Discards a tile that it does not hold in its third turn.
#include "brain.h"

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        if (++turns < 3) return SimpleBrain::requestDiscard();
        int number = 1;
        while (hand.contains(number)) ++number;
        return number;
    }

private:
    int turns = 0;
};
