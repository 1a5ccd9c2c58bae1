#include "bot.hpp"

// Three discs are more than one.
int main() {
    std::string board(64, 0);
    board[0] = 2;
    for (int index : {1, 2, 3, 8}) board[index] = 1;
    const Square square = choose(board);
    if (square.row == 0 && square.column == 4) return 0;
    std::cerr << "chose " << square.row << ' ' << square.column << '\n';
    return 1;
}
