// {{name}}: a bot for Othello.
#pragma once

#include <bot_arena/bot.hpp>

#include <iostream>
#include <string>

using bot_arena::Square;

// How many discs a move there turns; 0 where it is not legal. On the board 1 is the opponent's
// disc and 2 your own.
inline int turned(const std::string& board, int row, int column) {
    const auto at = [&](int row, int column) {
        return row < 0 || row > 7 || column < 0 || column > 7 ? 0 : board.at(8 * row + column);
    };
    if (at(row, column) != 0) return 0;
    int count = 0;
    for (int down = -1; down <= 1; ++down) {
        for (int right = -1; right <= 1; ++right) {
            int steps = 1;
            while (at(row + steps * down, column + steps * right) == 1) ++steps;
            if (at(row + steps * down, column + steps * right) == 2) count += steps - 1;
        }
    }
    return count;
}

// A legal move. Your idea goes here: this takes one that turns the most discs.
inline Square choose(const std::string& board) {
    Square best{0, 0};
    int most = 0;
    for (int row = 0; row < 8; ++row) {
        for (int column = 0; column < 8; ++column) {
            if (const int count = turned(board, row, column); count > most) {
                most = count;
                best = {row, column};
            }
        }
    }
    return best;
}

// One object for each game.
struct MyBot : bot_arena::OthelloBot {
    Square request_move(const bot_arena::RequestMove& ask, bot_arena::Limit) override {
        const Square square = choose(ask.board());
        // It goes into the bot's log.
        std::cout << "I play " << square.row << ' ' << square.column << std::endl;
        return square;
    }
};

inline int play() { return bot_arena::Bot("{{name}}", "1").othello<MyBot>().main(); }
