// Throws a text of its own.
#include "brain.h"

using namespace std;

class MyBrain : public SimpleBrain {
public:
    void getOppDiscard(Tile) override { throw string("no such tile"); }
};
