// Throws what is no std::exception.
#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        if (hand.size() == 14 && ++turns == 3) throw 42;
        return SimpleBrain::requestDiscard();
    }

private:
    int turns = 0;
};
