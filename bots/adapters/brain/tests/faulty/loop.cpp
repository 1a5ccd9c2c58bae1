// Never answers its third question.
#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    Tile requestDiscard() override {
        if (hand.size() == 14 && ++turns == 3) for (volatile int i = 0;; i = i + 1) {}
        return SimpleBrain::requestDiscard();
    }

private:
    int turns = 0;
};
