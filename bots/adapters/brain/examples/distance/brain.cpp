// Keeps the hand that is nearest to winning, and of those the one that most tiles that nobody
// has shown yet would bring nearer.
#include "brain.h"
using namespace std;

class MyBrain : public Brain {
public:
    void getDraw(Tile tile) override {
        hand.add(tile);
        shown[tile]++;
    }

    Tile requestDiscard() override {
        Tile best;
        int bestDistance = 100;
        int bestTiles = -1;
        set<Tile> kinds(hand.begin(), hand.end());
        for (Tile tile : kinds) {
            Hand rest = hand;
            rest.remove(tile);
            int distance = rest.distance();
            if (distance > bestDistance) continue;
            int tiles = helpful(rest, distance);
            if (distance < bestDistance || tiles >= bestTiles) {
                best = tile;
                bestDistance = distance;
                bestTiles = tiles;
            }
        }
        hand.remove(best);
        return best;
    }

    void getOppDiscard(Tile tile) override { shown[tile]++; }

    bool requestWin(Tile tile, bool) override {
        Hand full = hand;
        full.add(tile);
        cout << "I win with " << full << ", " << full.score() << " faan" << endl;
        return full.isWinning();
    }

private:
    // How many tiles that have not been seen would lower the distance.
    int helpful(const Hand& rest, int distance) {
        int tiles = 0;
        for (int number = 1; number < 30; number++) {
            if (number % 10 == 0) continue;
            Hand more = rest;
            more.add(number);
            if (more.distance() < distance) tiles += 4 - shown[number];
        }
        return tiles;
    }

    Hand hand;
    map<Tile, int> shown;
};
