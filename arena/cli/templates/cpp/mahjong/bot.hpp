// {{name}}: a bot for Mahjong.
#pragma once

#include <bot_arena/bot.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>

using bot_arena::Tile;

// The tile to discard. Your idea goes here: this takes the one with the fewest neighbours in the
// hand. A tile is the number 10 * suit + rank.
inline Tile choose(const std::vector<Tile>& hand) {
    const auto neighbours = [&](int tile) {
        return std::count_if(hand.begin(), hand.end(),
                             [&](int other) { return std::abs(tile - other) <= 1; });
    };
    return *std::min_element(hand.begin(), hand.end(), [&](int a, int b) {
        return neighbours(a) < neighbours(b);
    });
}

// One object for each game.
class MyBot : public bot_arena::MahjongBot {
public:
    void get_draw(Tile tile) override { hand_.push_back(tile); }

    Tile request_discard(bot_arena::Limit) override {
        const Tile tile = choose(hand_);
        hand_.erase(std::find(hand_.begin(), hand_.end(), tile));
        std::cout << "I discard " << tile << std::endl;  // goes into the bot's log
        return tile;
    }

    void get_opp_discard(Tile) override {}
    bool request_win(Tile, bool, bot_arena::Limit) override { return true; }

private:
    std::vector<Tile> hand_;
};

inline int play() { return bot_arena::Bot("{{name}}", "1").mahjong<MyBot>().main(); }
