// Connect Four: wins where it can, denies a win where it must, and else stays near the
// centre without giving a win away. It remembers nothing, so it plays the same in every
// language.
#include <bot_arena/bot.hpp>

#include <array>
#include <cstdlib>

using namespace bot_arena;

namespace {

constexpr int OPPONENT = 1;
constexpr int ME = 2;

// Whether a stone of this side at this point makes four or more in a line. The forbidden cell
// is empty on the board, so it breaks lines.
bool wins(const GetPoint& ask, Point point, int side) {
    const auto run = [&](int dx, int dy) {
        int length = 0;
        for (int x = point.x + dx, y = point.y + dy;
             x >= 0 && x < ask.m && y >= 0 && y < ask.n && ask.at(x, y) == side; x += dx, y += dy) {
            ++length;
        }
        return length;
    };
    constexpr std::array<std::array<int, 2>, 4> LINES{{{0, 1}, {1, 0}, {1, 1}, {1, -1}}};
    for (const auto& [dx, dy] : LINES) {
        if (run(dx, dy) + 1 + run(-dx, -dy) >= 4) return true;
    }
    return false;
}

// Whether the opponent can't win on top of a stone of mine here. That stone is not on the
// board, and need not be: no line through the cell above it would hold it.
bool safe(const GetPoint& ask, Point point) {
    Point above{point.x - 1, point.y};
    if (above == Point{ask.no_x, ask.no_y}) --above.x;
    return above.x < 0 || !wins(ask, above, OPPONENT);
}

class Careful : public ConnectFourBot {
public:
    Point get_point(const GetPoint& ask) override {
        const auto points = ask.points();
        for (int side : {ME, OPPONENT}) {
            for (Point point : points) {
                if (wins(ask, point, side)) return point;
            }
        }
        std::vector<Point> some;
        for (Point point : points) {
            if (safe(ask, point)) some.push_back(point);
        }
        if (some.empty()) some = points;
        Point best = some.at(0);
        const auto off = [&](Point point) { return std::abs(2 * point.y - (ask.n - 1)); };
        for (Point point : some) {
            if (off(point) < off(best)) best = point;
        }
        return best;
    }
};

}  // namespace

int main() {
    return Bot("careful", "1.0").max_games(16).can_resume().connect_four<Careful>().main();
}
