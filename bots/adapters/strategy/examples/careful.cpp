// `careful`, a Connect Four strategy for the classic interface: wins if it can,
// denies a win if it must, and else stays near the centre without opening a
// win above its own stone.
//
//   g++ -shared -fPIC -O2 -o careful.so careful.cpp
//   arena match connect-four --bot strategy:careful.so --bot house:random

#include <cstdlib>
#include <vector>

struct Point {
    int x;
    int y;
};

namespace {

constexpr int OPPONENT = 1;
constexpr int OWN = 2;
constexpr int DIRECTIONS[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};

struct Position {
    int m;
    int n;
    std::vector<int> board;
    int no_x;
    int no_y;

    // The forbidden cell belongs to nobody.
    bool belongs(int x, int y, int player) const {
        bool on = x >= 0 && x < m && y >= 0 && y < n && !(x == no_x && y == no_y);
        return on && board[x * n + y] == player;
    }

    // How many stones of the player lie next to (x, y) in this direction.
    int stones(int x, int y, int dx, int dy, int player) const {
        int count = 0;
        while (belongs(x + (count + 1) * dx, y + (count + 1) * dy, player)) {
            count += 1;
        }
        return count;
    }

    // Whether a stone of the player on (x, y) makes four or more in a line.
    bool wins(int x, int y, int player) const {
        for (const int(&d)[2] : DIRECTIONS) {
            int line = 1 + stones(x, y, d[0], d[1], player) + stones(x, y, -d[0], -d[1], player);
            if (line >= 4) {
                return true;
            }
        }
        return false;
    }

    // Whether the opponent wins by a stone on top of ours on (x, y).
    bool opens(int x, int y) {
        int above = x - 1;
        if (above == no_x && y == no_y) {
            above -= 1;
        }
        if (above < 0) {
            return false;
        }
        board[x * n + y] = OWN;
        bool won = wins(above, y, OPPONENT);
        board[x * n + y] = 0;
        return won;
    }
};

int choose(Position& position, const int* top) {
    for (int player : {OWN, OPPONENT}) {
        for (int y = 0; y < position.n; y++) {
            if (top[y] > 0 && position.wins(top[y] - 1, y, player)) {
                return y;
            }
        }
    }
    // A safe column is better than any other, then the nearest to the centre.
    int best = -1;
    bool best_safe = false;
    int best_distance = 0;
    for (int y = 0; y < position.n; y++) {
        if (top[y] == 0) {
            continue;
        }
        bool safe = !position.opens(top[y] - 1, y);
        int distance = std::abs(2 * y - (position.n - 1));
        bool better = best < 0 || (safe && !best_safe) ||
                      (safe == best_safe && distance < best_distance);
        if (better) {
            best = y;
            best_safe = safe;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace

extern "C" Point* getPoint(const int M, const int N, const int* top, const int* board,
                           const int /*lastX*/, const int /*lastY*/, const int noX,
                           const int noY) {
    Position position{M, N, std::vector<int>(board, board + M * N), noX, noY};
    int y = choose(position, top);
    return new Point{top[y] - 1, y};
}

extern "C" void clearPoint(Point* p) { delete p; }
