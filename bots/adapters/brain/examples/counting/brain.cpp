// Counts its tiles in a map: gives up the suit that it has least of, and keeps pairs first and
// neighbours second.
#include "brain.h"
using namespace std;

class MyBrain : public Brain {
public:
    MyBrain() { srand(time(0)); }

    void getDraw(Tile tile) { counts[tile]++; }

    Tile requestDiscard() {
        int inSuit[3] = {0, 0, 0};
        for (auto& entry : counts) inSuit[entry.first.suit()] += entry.second;
        Suit fewest = CHARACTERS;
        for (Suit suit : {BAMBOOS, DOTS}) {
            if (inSuit[suit] < inSuit[fewest]) fewest = suit;
        }
        // The tiles that are worth least; one of them at random.
        int least = 1000;
        vector<Tile> worst;
        for (auto& entry : counts) {
            int value = worth(entry.first);
            if (entry.first.suit() == fewest) value -= 100;
            if (value < least) {
                least = value;
                worst.clear();
            }
            if (value == least) worst.push_back(entry.first);
        }
        Tile tile = worst[rand() % worst.size()];
        if (--counts[tile] == 0) counts.erase(tile);
        return tile;
    }

    void getOppDiscard(Tile tile) { seen.insert(tile); }

    bool requestWin(Tile tile, bool isSelfDraw) { return true; }

private:
    // counts[…] would put tiles there that it does not hold.
    int has(int tile) {
        auto found = counts.find(tile);
        return found == counts.end() ? 0 : found->second;
    }

    int worth(Tile tile) {
        int value = 10 * (has(tile) - 1);
        if (seen.count(tile) > 0) value--;
        for (int step : {-2, -1, 1, 2}) {
            if (has(tile + step) > 0) value += 4 - abs(step);
        }
        return value;
    }

    map<Tile, int> counts;
    set<Tile> seen;
};
