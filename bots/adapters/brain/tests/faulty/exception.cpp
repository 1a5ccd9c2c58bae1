// Throws in its third turn.
#include "brain.h"
#include <stdexcept>
using namespace std;

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        if (hand.size() == 14 && ++turns == 3) throw out_of_range("no such tile");
        return SimpleBrain::requestDiscard();
    }

private:
    int turns = 0;
};
