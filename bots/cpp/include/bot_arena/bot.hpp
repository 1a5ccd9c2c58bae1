// Writing a bot: a class with the callbacks of a game, and one line of main.
//
//     struct Leftmost : bot_arena::ConnectFourBot {
//         bot_arena::Point get_point(const bot_arena::GetPoint& ask) override {
//             return ask.points().front();
//         }
//     };
//
//     int main() { return bot_arena::Bot("leftmost", "1.0").connect_four<Leftmost>().main(); }
//
// There is one object for each game, and only one thread calls it. An exception
// that leaves a callback loses the game it happened in and no other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "arena/v1/envelope.pb.h"
#include "games/big_two/v1/big_two.pb.h"
#include "games/mahjong/v1/mahjong.pb.h"
#include "games/othello/v1/othello.pb.h"

namespace bot_arena {

// What ended a game, and what a seat can do wrong. Those of a newer referee, which this kit does
// not know, are ENDING_UNSPECIFIED and FOUL_KIND_UNSPECIFIED.
using arena::v1::Ending;
using arena::v1::FoulKind;

using arena::v1::GameOver;
using arena::v1::GameStart;

// The time that an answer may take.
using Limit = std::chrono::nanoseconds;

// Whether the game of this thread has been cut off, so that its answer is not needed any more:
// a long search may ask now and then. False on other threads.
bool cancelled();

// Text as UTF-8, which the referee needs: each byte that is not UTF-8 becomes U+FFFD, and whole
// characters of at most `most` bytes are kept.
std::string as_utf8(const std::string& text, std::size_t most);

// The exception that is being handled, in words: its type and what it says. Call it in a
// `catch`.
std::string exception_words();

// Ends its game with exactly these words as the reason. Another exception is told with its type
// and the callback that threw it.
struct GameFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// ---- Connect Four -----------------------------------------------------------

// A cell: x is the row, from 0 at the top; y is the column, from 0 at the left.
struct Point {
    int x;
    int y;

    bool operator==(const Point& other) const { return x == other.x && y == other.y; }
    bool operator!=(const Point& other) const { return !(*this == other); }
};

// A question for a point, with the whole position.
struct GetPoint {
    int m;                            // Rows.
    int n;                            // Columns.
    std::vector<std::uint8_t> top;    // n of them: the next stone in y lands on row top[y] - 1.
    std::vector<std::uint8_t> board;  // m * n, row by row: 0 empty, 1 the opponent's, 2 yours.
    int last_x, last_y;               // The opponent's last point; -1 where there is none.
    int no_x, no_y;                   // The forbidden cell; -1 where there is none.
    Limit limit;

    // Where a stone dropped into this column lands; nowhere if it is full.
    std::optional<Point> landing(int column) const;
    // Every point that can be played, from the left.
    std::vector<Point> points() const;
    // The cell in row x and column y, as in `board`.
    std::uint8_t at(int x, int y) const { return board.at(x * n + y); }
};

// A bot in one game of Connect Four.
class ConnectFourBot {
public:
    virtual ~ConnectFourBot() = default;
    // Where do you play? The stone must land exactly there: one of `points()`.
    virtual Point get_point(const GetPoint& ask) = 0;
    // The stream was opened in the middle of a game: this was asked and answered before.
    virtual void resumed_point(const GetPoint& /*ask*/, Point /*answer*/) {}
    // The game is over. Not called where it was cut off.
    virtual void game_over(const GameOver& /*over*/) {}
};

// ---- Mahjong ----------------------------------------------------------------

// A tile as a number is 10 * suit + rank, with the suits c, b, d as 0, 1, 2.
using games::mahjong::v1::Round;
using games::mahjong::v1::Tile;

// A bot in one round of Mahjong.
class MahjongBot {
public:
    virtual ~MahjongBot() = default;
    // What the round is played by; before everything else.
    virtual void get_round(const Round& /*round*/) {}
    // A tile is in your hand now: once for each of the 13 at the start, then for each you draw.
    virtual void get_draw(Tile tile) = 0;
    // Which tile of your hand do you discard? It is out of the hand then.
    virtual Tile request_discard(Limit limit) = 0;
    // The other seat has discarded a tile.
    virtual void get_opp_discard(Tile tile) = 0;
    // Do you win on this tile, which completes the hand? If you don't, you are told of it
    // as of any other.
    virtual bool request_win(Tile tile, bool is_self_draw, Limit limit) = 0;
    // The stream was opened in the middle of a round: you discarded this.
    virtual void resumed_discard(Tile /*tile*/) {}
    // The same for a claim.
    virtual void resumed_win(Tile /*tile*/, bool /*is_self_draw*/, bool /*win*/) {}
    // The round is over. Not called where it was cut off.
    virtual void game_over(const GameOver& /*over*/) {}
};

// ---- Reversal Big Two -------------------------------------------------------

using games::big_two::v1::Card;
using games::big_two::v1::GetPlay;
using games::big_two::v1::RequestPlay;
using games::big_two::v1::Table;
using Cards = std::vector<Card>;

// A bot in one game of Reversal Big Two.
class BigTwoBot {
public:
    virtual ~BigTwoBot() = default;
    // What everybody knows before the first play.
    virtual void get_table(const Table& /*table*/) {}
    // Your cards.
    virtual void get_deal(const Cards& cards) = 0;
    // A seat has played or passed; you are told of your own plays too.
    virtual void get_play(const GetPlay& play) = 0;
    // A seat has left by a foul and taken this place.
    virtual void get_forfeit(int /*seat*/, int /*place*/) {}
    // Which cards do you play? None is a pass, which is not allowed where you lead.
    virtual std::optional<Cards> request_play(const RequestPlay& ask, Limit limit) = 0;
    // The stream was opened in the middle of a game: this was asked and answered before.
    virtual void resumed_play(const RequestPlay& /*ask*/, const std::optional<Cards>& /*cards*/) {}
    // The game is over. Not called where it was cut off.
    virtual void game_over(const GameOver& /*over*/) {}
};

// ---- Othello ----------------------------------------------------------------

using games::othello::v1::Beginning;
using games::othello::v1::RequestMove;

// A square; its index on the board is 8 * row + column. a1 is (0, 0).
struct Square {
    int row;
    int column;
};

// A bot in one game of Othello.
class OthelloBot {
public:
    virtual ~OthelloBot() = default;
    // The position that the game begins with.
    virtual void get_beginning(const Beginning& /*beginning*/) {}
    // Where do you place a disc? You are asked only where there is a move.
    virtual Square request_move(const RequestMove& ask, Limit limit) = 0;
    // The stream was opened in the middle of a game: this was asked and answered before.
    virtual void resumed_move(const RequestMove& /*ask*/, Square /*square*/) {}
    // The game is over. Not called where it was cut off.
    virtual void game_over(const GameOver& /*over*/) {}
};

// ---- The bot ----------------------------------------------------------------

// Makes the object that plays one game.
template <class Game>
using Factory = std::function<std::unique_ptr<Game>(const GameStart&)>;

// A bot: its name, what it says of itself, the games that it plays.
class Bot {
public:
    // A bot that plays nothing yet. Name and version are shown to people.
    Bot(const std::string& name, const std::string& version);
    ~Bot();
    Bot(Bot&&) noexcept;
    Bot& operator=(Bot&&) noexcept;

    // How many games one process can play at once; 1 by default. A game has a thread
    // of its own. Throws std::invalid_argument for less than one.
    Bot& max_games(int games);
    // The bot can be resumed mid-game: it has the callbacks `resumed_…`, or
    // remembers nothing between the others.
    Bot& can_resume();

    // The games that it plays: by a class that is made from a GameStart or from nothing, or
    // by a function.
    template <class T> Bot& connect_four() { return connect_four(make<ConnectFourBot, T>); }
    template <class T> Bot& mahjong() { return mahjong(make<MahjongBot, T>); }
    template <class T> Bot& big_two() { return big_two(make<BigTwoBot, T>); }
    template <class T> Bot& othello() { return othello(make<OthelloBot, T>); }
    Bot& connect_four(Factory<ConnectFourBot> factory);
    Bot& mahjong(Factory<MahjongBot> factory);
    Bot& big_two(Factory<BigTwoBot> factory);
    Bot& othello(Factory<OthelloBot> factory);

    // Serves until SIGTERM or SIGINT, and gives the exit code. It listens at the address in the
    // environment variable BOT_LISTEN: unix:PATH or tcp:HOST:PORT. Where BOT_JOIN names an arena
    // (https://HOST:PORT) it joins that instead, with the token in the file BOT_TOKEN_FILE. Call
    // it before you start threads: they would get the signals.
    int main();

private:
    struct State;
    std::unique_ptr<State> state_;

    template <class Game, class T>
    static std::unique_ptr<Game> make(const GameStart& start) {
        if constexpr (std::is_constructible_v<T, const GameStart&>) {
            return std::make_unique<T>(start);
        } else {
            return std::make_unique<T>();
        }
    }
};

}  // namespace bot_arena
