// {{name}}: a bot for Connect Four.
#pragma once

#include <bot_arena/bot.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>

// One of the points that can be played. Your idea goes here: this takes the one nearest to the
// middle.
inline bot_arena::Point choose(const std::vector<bot_arena::Point>& points, int columns) {
    const auto from_middle = [&](const bot_arena::Point& point) {
        return std::abs(2 * point.y - (columns - 1));
    };
    return *std::min_element(points.begin(), points.end(), [&](const auto& a, const auto& b) {
        return from_middle(a) < from_middle(b);
    });
}

// One object for each game.
struct MyBot : bot_arena::ConnectFourBot {
    bot_arena::Point get_point(const bot_arena::GetPoint& ask) override {
        // `ask` has the whole position, as in ask.at(x, y), and the time limit.
        const auto point = choose(ask.points(), ask.n);
        std::cout << "I play " << point.x << ' ' << point.y << std::endl;  // goes into the bot's log
        return point;
    }
};

inline int play() { return bot_arena::Bot("{{name}}", "1").connect_four<MyBot>().main(); }
