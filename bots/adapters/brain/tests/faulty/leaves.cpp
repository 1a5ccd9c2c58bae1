// Ends its process in its third turn.
#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        if (hand.size() == 14 && ++turns == 3) exit(7);
        return SimpleBrain::requestDiscard();
    }

private:
    int turns = 0;
};
