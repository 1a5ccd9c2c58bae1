// Keeps its hand in a global and counts on finding it empty.
#include "brain.h"
using namespace std;

vector<Tile> hand;
int rounds = 0;

class MyBrain : public Brain {
public:
    MyBrain() { cout << "round " << ++rounds << endl; }
    ~MyBrain() { cout << "the end of round " << rounds << endl; }
    void getDraw(Tile tile) { hand.push_back(tile); }
    Tile requestDiscard() {
        Tile tile = hand.front();
        hand.erase(hand.begin());
        return tile;
    }
    void getOppDiscard(Tile) {}
    bool requestWin(Tile, bool) { return true; }
};
