// Does not let go of a round that is over.
#include "brain.h"

class MyBrain : public SimpleBrain {
public:
    ~MyBrain() override {
        for (volatile int i = 0;; i = i + 1) {
        }
    }
};
