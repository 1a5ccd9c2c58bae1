// The bot that the kit is tested with: prints every callback on a line of its own. What a
// game's id says, it does: throw, throw-int, throw-text, throw-string, throw-long, throw-wide,
// throw-gbk, throw-at-start, nothing (is made), spin (for ever), search (until the game is cut
// off). Its argument is connect-four-only, never-served, or the callback that throws.
#include <bot_arena/bot.hpp>

#include <iostream>
#include <stdexcept>
#include <thread>

using namespace bot_arena;

namespace {

std::string thrower;

// Begins the line of a callback.
std::ostream& tell(const std::string& callback) {
    if (callback == thrower) throw std::string("no luck");
    return std::cout << callback << " ";
}

class Told {
public:
    explicit Told(const GameStart& start) : id(start.game_id()) {
        std::cout << "made " << id << " seat " << start.seat() << "\n";
    }
    ~Told() { std::cout << "dropped " << id << "\n"; }

    void misbehave() const {
        if (id == "throw") throw std::out_of_range("no column has room");
        if (id == "throw-long") throw std::runtime_error(std::string(20000, 'x'));
        if (id == "throw-gbk") throw std::runtime_error("\xb3\xf6\xb4\xed 12");
        if (id == "throw-wide") {
            std::string wide;
            while (wide.size() < 2000) wide += "棋";
            throw std::runtime_error(wide);
        }
        if (id == "throw-int") throw 42;
        if (id == "throw-text") throw "no column has room";
        if (id == "throw-string") throw std::string("no column has room");
        std::cout << "thinking " << id << "\n";
        while (id == "spin" || (id == "search" && !cancelled())) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    std::string id;
};

void over(const GameOver& over) {
    auto& line = tell("game_over") << over.reason();
    for (const auto& seat : over.results()) {
        if (seat.has_foul()) line << ", " << arena::v1::FoulKind_Name(seat.foul());
    }
    if (over.results_size() > 0) line << ", " << arena::v1::Ending_Name(over.ending());
    line << "\n";
}

class C4 : public ConnectFourBot {
public:
    explicit C4(const GameStart& start) : told_(start) {
        if (start.game_id() == "throw-at-start") throw std::runtime_error("can't begin");
    }
    Point get_point(const GetPoint& ask) override {
        told_.misbehave();
        tell("get_point") << ask.m << "x" << ask.n << " last " << ask.last_x << ","
                  << ask.last_y << " no " << ask.no_x << "," << ask.no_y << " limit "
                  << ask.limit.count() << " points " << ask.points().size() << "\n";
        return ask.points().front();
    }
    void resumed_point(const GetPoint& ask, Point point) override {
        tell("resumed_point") << ask.n << " " << point.x << "," << point.y << "\n";
    }
    void game_over(const GameOver& o) override { over(o); }

private:
    Told told_;
};

class Mj : public MahjongBot {
public:
    void get_round(const Round& round) override {
        tell("get_round") << round.missing_suit_required() << " " << round.wall() << "\n";
    }
    void get_draw(Tile tile) override {
        tell("get_draw") << tile << "\n";
        last_ = tile;
    }
    Tile request_discard(Limit limit) override {
        tell("request_discard") << limit.count() << "\n";
        return last_;
    }
    void get_opp_discard(Tile tile) override { tell("get_opp_discard") << tile << "\n"; }
    bool request_win(Tile tile, bool own, Limit) override {
        tell("request_win") << tile << " " << own << "\n";
        return own;
    }
    void resumed_discard(Tile tile) override { tell("resumed_discard") << tile << "\n"; }
    void resumed_win(Tile tile, bool own, bool win) override {
        tell("resumed_win") << tile << " " << own << " " << win << "\n";
    }
    void game_over(const GameOver& o) override { over(o); }

private:
    Tile last_{};
};

class B2 : public BigTwoBot {
public:
    void get_table(const Table& table) override {
        tell("get_table") << table.cards_left_size() << "\n";
    }
    void get_deal(const Cards& cards) override {
        tell("get_deal") << cards.size() << "\n";
        hand_ = cards;
    }
    void get_play(const GetPlay& play) override {
        tell("get_play") << play.seat() << " " << play.play().cards_size() << "\n";
    }
    void get_forfeit(int seat, int place) override {
        tell("get_forfeit") << seat << " " << place << "\n";
    }
    std::optional<Cards> request_play(const RequestPlay& ask, Limit) override {
        tell("request_play") << ask.to_beat().cards_size() << "\n";
        if (ask.to_beat().cards_size() > 0) return {};
        return hand_;
    }
    void resumed_play(const RequestPlay&, const std::optional<Cards>& cards) override {
        tell("resumed_play") << (cards ? static_cast<int>(cards->size()) : -1) << "\n";
    }
    void game_over(const GameOver& o) override { over(o); }

private:
    Cards hand_;
};

class Oth : public OthelloBot {
public:
    void get_beginning(const Beginning& b) override {
        tell("get_beginning") << b.board().size() << "\n";
    }
    Square request_move(const RequestMove& ask, Limit) override {
        tell("request_move") << ask.board().size() << "\n";
        return {static_cast<signed char>(ask.board()[0]), static_cast<signed char>(ask.board()[1])};
    }
    void resumed_move(const RequestMove&, Square square) override {
        tell("resumed_move") << square.row << "," << square.column << "\n";
    }
    void game_over(const GameOver& o) override { over(o); }
};

}  // namespace

int main(int count, char** arguments) {
    Bot bot("subject", "2.5");
    if (count > 1) thrower = arguments[1];
    bot.max_games(2).can_resume().connect_four<C4>();
    if (thrower != "connect-four-only") {
        bot.mahjong<Mj>().big_two<B2>().othello([](const GameStart& start) {
            return start.game_id() == "nothing" ? nullptr : std::make_unique<Oth>();
        });
    }
    if (thrower == "never-served") return 0;
    return bot.main();
}
