// A kind of tile, of which there are four. As a number it is 10 * suit + rank.
#pragma once

#include <functional>
#include <ostream>

enum Suit { CHARACTERS = 0, BAMBOOS = 1, DOTS = 2 };

// Its letter: c, b or d.
inline char letter(Suit suit) { return "cbd"[suit]; }

// Made from its number and turned into it, so tiles are compared and sorted as numbers are:
// by suit, then by rank.
class Tile {
public:
    // No tile.
    Tile() : number_(0) {}
    Tile(int number) : number_(number) {}
    Tile(Suit suit, int rank) : number_(10 * suit + rank) {}

    operator int() const { return number_; }
    // The same by name.
    int toInt() const { return number_; }
    Suit suit() const { return static_cast<Suit>(number_ / 10); }
    int rank() const { return number_ % 10; }
    // Whether there is such a tile.
    bool valid() const { return number_ > 0 && number_ < 30 && rank() != 0; }

private:
    int number_;
};

// As in 7d; what is no tile as its number.
inline std::ostream& operator<<(std::ostream& out, const Tile& tile) {
    if (!tile.valid()) return out << int(tile);
    return out << tile.rank() << letter(tile.suit());
}

namespace std {
template <>
struct hash<Tile> {
    size_t operator()(const Tile& tile) const noexcept { return hash<int>()(tile); }
};
}  // namespace std
