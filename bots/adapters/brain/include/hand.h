// A hand of tiles: what it is worth, and how far it is from winning.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "tile.h"

// Any number of tiles, sorted.
class Hand {
public:
    using const_iterator = std::vector<Tile>::const_iterator;

    Hand() = default;
    // From the notation, such as 122367c1478b1389d. Throws std::invalid_argument.
    explicit Hand(const std::string& notation);

    void add(Tile tile);
    // Takes one such tile away. Says whether there was one.
    bool remove(Tile tile);
    bool contains(Tile tile) const { return count(tile) > 0; }
    // How many of this kind it holds.
    int count(Tile tile) const;
    std::size_t size() const { return tiles_.size(); }
    bool empty() const { return tiles_.empty(); }
    Tile operator[](std::size_t i) const { return tiles_[i]; }
    const_iterator begin() const { return tiles_.begin(); }
    const_iterator end() const { return tiles_.end(); }

    // The value (faan) of a hand of 14 tiles; 0 if it does not win. Where `missing_suit` is
    // required, a hand of all three suits can't win.
    int score(bool missing_suit = true) const;
    bool isWinning(bool missing_suit = true) const { return score(missing_suit) > 0; }
    // How far the hand is from winning: the fewest tiles of some winning hand, made of tiles
    // that exist, that it lacks, minus 1. So -1 has won and 0 waits for one tile.
    int distance(bool missing_suit = true) const;

private:
    std::vector<Tile> tiles_;
};

// In the notation.
std::ostream& operator<<(std::ostream& out, const Hand& hand);
