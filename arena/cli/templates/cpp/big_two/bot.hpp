// {{name}}: a bot for Reversal Big Two.
#pragma once

#include <bot_arena/bot.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

using bot_arena::Card;
using bot_arena::Cards;

// 0 for a three to 12 for a two; 13 for a joker.
inline int rank(int card) { return (card - 1) / 4; }

// What to play; nothing is a pass. Your idea goes here: this plays the lowest single card that it
// can, and passes where several cards are to be beaten or the order is reversed.
inline std::optional<Cards> choose(Cards hand, const Cards& to_beat, bool reversed) {
    std::sort(hand.begin(), hand.end());
    // With the three of clubs, where that must be played.
    if (to_beat.empty()) return Cards{hand.front()};
    if (to_beat.size() > 1 || reversed) return std::nullopt;
    const auto beats = [&](Card card) { return rank(card) > rank(to_beat.front()); };
    const auto lowest = std::find_if(hand.begin(), hand.end(), beats);
    if (lowest == hand.end()) return std::nullopt;
    return Cards{*lowest};
}

// One object for each game.
class MyBot : public bot_arena::BigTwoBot {
public:
    void get_deal(const Cards& cards) override { hand_ = cards; }

    void get_play(const bot_arena::GetPlay&) override {}

    std::optional<Cards> request_play(const bot_arena::RequestPlay& ask,
                                      bot_arena::Limit) override {
        Cards to_beat;
        for (int card : ask.to_beat().cards()) to_beat.push_back(static_cast<Card>(card));
        const auto cards = choose(hand_, to_beat, ask.reversed());
        for (Card card : cards.value_or(Cards{})) {
            hand_.erase(std::find(hand_.begin(), hand_.end(), card));
            std::cout << "I play " << card << std::endl;  // goes into the bot's log
        }
        return cards;
    }

private:
    Cards hand_;
};

inline int play() { return bot_arena::Bot("{{name}}", "1").big_two<MyBot>().main(); }
