// What is different from game to game: how a call becomes a callback, and what
// that returns an answer. `hear` says whether there is an answer to send. `at` is the callback
// that is running, for the words of what it throws.
#pragma once

#include "bot_arena/bot.hpp"
#include "games/big_two/v1/big_two.grpc.pb.h"
#include "games/connect_four/v1/connect_four.grpc.pb.h"
#include "games/mahjong/v1/mahjong.grpc.pb.h"
#include "games/othello/v1/othello.grpc.pb.h"

namespace bot_arena {

template <class Call>
Limit limit_of(const Call& call) {
    return std::chrono::seconds(call.limit().seconds()) +
           std::chrono::nanoseconds(call.limit().nanos());
}

struct ConnectFour {
    using Service = games::connect_four::v1::ConnectFourBot;
    using Call = games::connect_four::v1::ConnectFourCall;
    using Answer = games::connect_four::v1::ConnectFourAnswer;
    using Player = ConnectFourBot;

    static void begin(Player&, const Call&, const char*&) {}
    static bool hear(Player& bot, const Call& call, Answer& answer, const char*& at);
};

struct Mahjong {
    using Service = games::mahjong::v1::MahjongBot;
    using Call = games::mahjong::v1::MahjongCall;
    using Answer = games::mahjong::v1::MahjongAnswer;
    using Player = MahjongBot;

    static void begin(Player& bot, const Call& call, const char*& at);
    static bool hear(Player& bot, const Call& call, Answer& answer, const char*& at);
};

struct BigTwo {
    using Service = games::big_two::v1::BigTwoBot;
    using Call = games::big_two::v1::BigTwoCall;
    using Answer = games::big_two::v1::BigTwoAnswer;
    using Player = BigTwoBot;

    static void begin(Player& bot, const Call& call, const char*& at);
    static bool hear(Player& bot, const Call& call, Answer& answer, const char*& at);
};

struct Othello {
    using Service = games::othello::v1::OthelloBot;
    using Call = games::othello::v1::OthelloCall;
    using Answer = games::othello::v1::OthelloAnswer;
    using Player = OthelloBot;

    static void begin(Player& bot, const Call& call, const char*& at);
    static bool hear(Player& bot, const Call& call, Answer& answer, const char*& at);
};

}  // namespace bot_arena
