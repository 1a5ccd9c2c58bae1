// 第一个大脑：打出最大的牌，能和就和。
// The first brain: discards its largest tile and takes every win.
#include "brain.h"
using namespace std;

class MyBrain : public Brain {
public:
    void getDraw(Tile tile) { hand.push_back(tile); }

    Tile requestDiscard() {
        sort(hand.begin(), hand.end());
        Tile largest = hand.back();
        hand.pop_back();
        cout << "I discard " << largest << endl;
        return largest;
    }

    void getOppDiscard(Tile tile) {}

    bool requestWin(Tile tile, bool isSelfDraw) { return true; }

private:
    vector<Tile> hand;
};
