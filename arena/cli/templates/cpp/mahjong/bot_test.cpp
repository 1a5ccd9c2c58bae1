#include "bot.hpp"

// A tile alone is discarded.
int main() {
    using namespace games::mahjong::v1;
    const Tile tile = choose({TILE_C1, TILE_C2, TILE_C3, TILE_B5, TILE_D7, TILE_D7});
    if (tile == TILE_B5) return 0;
    std::cerr << "chose " << tile << '\n';
    return 1;
}
