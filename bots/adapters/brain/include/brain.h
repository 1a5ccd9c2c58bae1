// What a brain.cpp includes: it has a class MyBrain that is a Brain, and is called back for
// what happens in a round of Mahjong. There is one object for each round, in a process of its
// own. What it prints goes to the bot's log.
#pragma once

// What a brain may count on without including it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hand.h"
#include "tile.h"

class Brain {
public:
    virtual ~Brain() = default;
    // A tile is in your hand now: once for each of the 13 at the start, then for each that you
    // draw. A tile that you win with is not told.
    virtual void getDraw(Tile tile) = 0;
    // Which tile of your hand do you discard? It is out of the hand then.
    virtual Tile requestDiscard() = 0;
    // The other seat has discarded a tile, and you have not won on it.
    virtual void getOppDiscard(Tile tile) = 0;
    // Do you win on this tile, which completes your hand? It is not in the hand yet. If you
    // don't, you are told of it as of any other.
    virtual bool requestWin(Tile tile, bool isSelfDraw) = 0;
};

// Keeps its hand, discards at random and never wins: to begin with, or to build upon.
class SimpleBrain : public Brain {
public:
    void getDraw(Tile tile) override { hand.add(tile); }
    Tile requestDiscard() override {
        const Tile tile = hand[std::rand() % hand.size()];
        hand.remove(tile);
        return tile;
    }
    void getOppDiscard(Tile) override {}
    bool requestWin(Tile, bool) override { return false; }

protected:
    Hand hand;
};
