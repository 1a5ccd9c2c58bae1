// Says that it listens, whenever it can.
#include "brain.h"

using namespace std;

static bool said = (cout << "listening on tcp:127.0.0.1:1" << endl, true);
static int put = puts("listening on tcp:127.0.0.1:2");

class MyBrain : public SimpleBrain {
public:
    MyBrain() { cout << "listening on tcp:127.0.0.1:" << 3 + said + put << endl; }
};
