// Plays every game at random, each legal move as likely as the others; of Big Two it knows
// what is played with natural cards of one rank. What it draws follows from the game's
// bot_seed, so it repeats itself, also where it is resumed mid-game.
#include <bot_arena/bot.hpp>

#include <algorithm>
#include <random>

using namespace bot_arena;

namespace {

class Dice {
public:
    explicit Dice(const GameStart& start) : generator_(start.bot_seed()) {}

    // One of these.
    template <class T>
    const T& pick(const std::vector<T>& from) {
        return from.at(generator_() % from.size());
    }

    // A draw that was made before the stream was opened.
    void again() { generator_(); }

private:
    std::mt19937_64 generator_;
};

class RandomConnectFour : public ConnectFourBot {
public:
    explicit RandomConnectFour(const GameStart& start) : dice_(start) {}

    Point get_point(const GetPoint& ask) override { return dice_.pick(ask.points()); }
    void resumed_point(const GetPoint&, Point) override { dice_.again(); }

private:
    Dice dice_;
};

class RandomMahjong : public MahjongBot {
public:
    explicit RandomMahjong(const GameStart& start) : dice_(start) {}

    void get_draw(Tile tile) override { hand_.push_back(tile); }
    void get_opp_discard(Tile) override {}
    bool request_win(Tile, bool, Limit) override { return true; }

    Tile request_discard(Limit) override {
        const Tile tile = dice_.pick(hand_);
        discard(tile);
        return tile;
    }

    void resumed_discard(Tile tile) override {
        dice_.again();
        discard(tile);
    }

private:
    void discard(Tile tile) { hand_.erase(std::find(hand_.begin(), hand_.end(), tile)); }

    Dice dice_;
    std::vector<Tile> hand_;
};

class RandomOthello : public OthelloBot {
public:
    explicit RandomOthello(const GameStart& start) : dice_(start) {}

    Square request_move(const RequestMove& ask, Limit) override {
        std::vector<Square> squares;
        for (int row = 0; row < 8; ++row) {
            for (int column = 0; column < 8; ++column) {
                if (turns(ask.board(), row, column)) squares.push_back({row, column});
            }
        }
        return dice_.pick(squares);
    }

    void resumed_move(const RequestMove&, Square) override { dice_.again(); }

private:
    static bool turns(const std::string& board, int row, int column) {
        const auto at = [&](int r, int c) {
            return r < 0 || r > 7 || c < 0 || c > 7 ? 0 : board.at(8 * r + c);
        };
        if (at(row, column) != 0) return false;
        for (int dr = -1; dr <= 1; ++dr) {
            for (int dc = -1; dc <= 1; ++dc) {
                int steps = 1;
                while (at(row + steps * dr, column + steps * dc) == 1) ++steps;
                if (steps > 1 && at(row + steps * dr, column + steps * dc) == 2) return true;
            }
        }
        return false;
    }

    Dice dice_;
};

class RandomBigTwo : public BigTwoBot {
public:
    explicit RandomBigTwo(const GameStart& start) : dice_(start), seat_(start.seat()) {}

    void get_deal(const Cards& cards) override {
        hand_ = cards;
        std::sort(hand_.begin(), hand_.end());
    }

    void get_play(const GetPlay& play) override {
        if (play.seat() != seat_) return;
        for (int card : play.play().cards()) {
            hand_.erase(std::find(hand_.begin(), hand_.end(), card));
        }
    }

    std::optional<Cards> request_play(const RequestPlay& ask, Limit) override {
        return dice_.pick(plays(ask));
    }

    void resumed_play(const RequestPlay&, const std::optional<Cards>&) override { dice_.again(); }

private:
    static int rank(int card) { return (card - 1) / 4; }
    static bool joker(int card) { return card >= games::big_two::v1::CARD_JOKER_1; }

    // How high a card is in the order of the moment.
    static int key(int card, bool reversed) {
        return !joker(card) && reversed ? 12 - rank(card) : rank(card);
    }

    std::vector<std::optional<Cards>> plays(const RequestPlay& ask) const {
        std::vector<std::optional<Cards>> all;
        const auto& to_beat = ask.to_beat().cards();
        if (!to_beat.empty()) all.emplace_back();
        // A joker that stands in for a card has no key of its own.
        int least = 0;
        if (!to_beat.empty()) {
            const auto weakest = std::min_element(to_beat.begin(), to_beat.end());
            // Cards of several ranks are a straight flush, on which nothing here can go.
            for (int card : to_beat) {
                if (!joker(card) && rank(card) != rank(*weakest)) return all;
            }
            least = key(*weakest, ask.reversed()) + 1;
        }
        for (auto first = hand_.begin(); first != hand_.end();) {
            const auto end = std::find_if(first, hand_.end(),
                                          [&](Card card) { return rank(card) != rank(*first); });
            const Cards same(first, end);
            first = end;
            if (key(same.front(), ask.reversed()) < least) continue;
            for (unsigned chosen = 1; chosen < 1u << same.size(); ++chosen) {
                Cards cards;
                for (std::size_t i = 0; i < same.size(); ++i) {
                    if (chosen >> i & 1) cards.push_back(same[i]);
                }
                const bool fits =
                    to_beat.empty() || static_cast<int>(cards.size()) == to_beat.size();
                const bool opens = !ask.must_include_three_of_clubs() ||
                                   cards.front() == games::big_two::v1::CARD_THREE_OF_CLUBS;
                if (fits && opens) all.emplace_back(cards);
            }
        }
        return all;
    }

    Dice dice_;
    unsigned seat_;
    Cards hand_;
};

}  // namespace

int main() {
    return Bot("random", "1.0")
        .max_games(16)
        .can_resume()
        .connect_four<RandomConnectFour>()
        .mahjong<RandomMahjong>()
        .big_two<RandomBigTwo>()
        .othello<RandomOthello>()
        .main();
}
