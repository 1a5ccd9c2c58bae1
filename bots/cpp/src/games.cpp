#include "games.hpp"

#include <set>

namespace bot_arena {
namespace {

Cards cards_of(const google::protobuf::RepeatedField<int>& cards) {
    Cards all;
    for (int card : cards) all.push_back(static_cast<Card>(card));
    return all;
}

[[noreturn]] void wrong(const std::string& callback, const std::string& value,
                        const std::string& expected) {
    throw GameFailed(callback + " returned " + value + ": expected " + expected);
}

// Whether these cards can be sent; whether the rules allow them, the referee decides.
void check(const char* callback, const Cards& cards) {
    const std::string expected = "Cards, each once, or nothing to pass";
    if (cards.empty()) wrong(callback, "no cards", expected);
    std::set<Card> seen;
    for (Card card : cards) {
        const std::string number = std::to_string(card);
        if (card == Card{} || !games::big_two::v1::Card_IsValid(card)) {
            wrong(callback, "a card " + number, expected);
        }
        if (!seen.insert(card).second) wrong(callback, "the card " + number + " twice", expected);
    }
}

}  // namespace

std::optional<Point> GetPoint::landing(int column) const {
    if (column < 0 || column >= static_cast<int>(top.size()) || top[column] == 0) return {};
    return Point{top[column] - 1, column};
}

std::vector<Point> GetPoint::points() const {
    std::vector<Point> all;
    for (int column = 0; column < n; ++column) {
        if (auto point = landing(column)) all.push_back(*point);
    }
    return all;
}

bool ConnectFour::hear(Player& bot, const Call& call, Answer& answer, const char*& at) {
    if (!call.has_get_point()) return false;
    const auto& told = call.get_point();
    const GetPoint ask{told.m(),
                       told.n(),
                       {told.top().begin(), told.top().end()},
                       {told.board().begin(), told.board().end()},
                       told.last_x(),
                       told.last_y(),
                       told.no_x(),
                       told.no_y(),
                       limit_of(call)};
    if (call.has_past_answer()) {
        const auto& past = call.past_answer().point();
        at = "resumed_point";
        bot.resumed_point(ask, {past.x(), past.y()});
        return false;
    }
    at = "get_point";
    const auto [x, y] = bot.get_point(ask);
    answer.mutable_point()->set_x(x);
    answer.mutable_point()->set_y(y);
    return true;
}

void Mahjong::begin(Player& bot, const Call& call, const char*& at) {
    at = "get_round";
    if (call.has_round()) bot.get_round(call.round());
}

bool Mahjong::hear(Player& bot, const Call& call, Answer& answer, const char*& at) {
    using namespace games::mahjong::v1;
    const bool past = call.has_past_answer();
    switch (call.call_case()) {
    case Call::kGetDraw:
        at = "get_draw";
        for (int tile : call.get_draw().tiles()) bot.get_draw(static_cast<Tile>(tile));
        return false;
    case Call::kGetOppDiscard:
        at = "get_opp_discard";
        bot.get_opp_discard(call.get_opp_discard().tile());
        return false;
    case Call::kRequestDiscard:
        if (past) {
            at = "resumed_discard";
            bot.resumed_discard(call.past_answer().discard());
        } else {
            at = "request_discard";
            const Tile tile = bot.request_discard(limit_of(call));
            if (tile == Tile{} || !Tile_IsValid(tile)) {
                wrong(at, std::to_string(tile), "a Tile of the hand");
            }
            answer.set_discard(tile);
        }
        return !past;
    case Call::kRequestWin: {
        const Tile tile = call.request_win().winning_tile();
        const bool own = call.request_win().is_self_draw();
        if (past) {
            at = "resumed_win";
            bot.resumed_win(tile, own, call.past_answer().win() == CLAIM_WIN);
        } else {
            at = "request_win";
            answer.set_win(bot.request_win(tile, own, limit_of(call)) ? CLAIM_WIN : CLAIM_PASS);
        }
        return !past;
    }
    default:
        return false;
    }
}

void BigTwo::begin(Player& bot, const Call& call, const char*& at) {
    at = "get_table";
    if (call.has_table()) bot.get_table(call.table());
    at = "get_deal";
    if (call.has_get_deal()) bot.get_deal(cards_of(call.get_deal().cards()));
}

bool BigTwo::hear(Player& bot, const Call& call, Answer& answer, const char*& at) {
    switch (call.call_case()) {
    case Call::kGetPlay:
        at = "get_play";
        bot.get_play(call.get_play());
        return false;
    case Call::kForfeit:
        at = "get_forfeit";
        bot.get_forfeit(call.forfeit().seat(), call.forfeit().place());
        return false;
    case Call::kRequestPlay:
        if (call.has_past_answer()) {
            std::optional<Cards> cards;
            if (call.past_answer().has_play()) {
                cards = cards_of(call.past_answer().play().cards());
            }
            at = "resumed_play";
            bot.resumed_play(call.request_play(), cards);
            return false;
        }
        at = "request_play";
        if (const auto cards = bot.request_play(call.request_play(), limit_of(call))) {
            check(at, *cards);
            for (Card card : *cards) answer.mutable_play()->add_cards(card);
        } else {
            answer.mutable_pass();
        }
        return true;
    default:
        return false;
    }
}

void Othello::begin(Player& bot, const Call& call, const char*& at) {
    at = "get_beginning";
    if (call.has_beginning()) bot.get_beginning(call.beginning());
}

bool Othello::hear(Player& bot, const Call& call, Answer& answer, const char*& at) {
    if (!call.has_request_move()) return false;
    if (call.has_past_answer()) {
        const auto& past = call.past_answer().square();
        at = "resumed_move";
        bot.resumed_move(call.request_move(),
                         {static_cast<int>(past.row()), static_cast<int>(past.column())});
        return false;
    }
    at = "request_move";
    const auto [row, column] = bot.request_move(call.request_move(), limit_of(call));
    if (row < 0 || row > 7 || column < 0 || column > 7) {
        wrong(at, "row " + std::to_string(row) + ", column " + std::to_string(column),
              "a Square with a row and a column of 0 to 7");
    }
    answer.mutable_square()->set_row(row);
    answer.mutable_square()->set_column(column);
    return true;
}

}  // namespace bot_arena
