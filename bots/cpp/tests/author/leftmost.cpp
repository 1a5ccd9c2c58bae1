#include <bot_arena/bot.hpp>

struct Leftmost : bot_arena::ConnectFourBot {
    bot_arena::Point get_point(const bot_arena::GetPoint& ask) override {
        return ask.points().front();
    }
};

int main() { return bot_arena::Bot("leftmost", "1.0").connect_four<Leftmost>().main(); }
