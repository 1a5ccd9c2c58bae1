// Values and distances by the rules page (docs/rules/mahjong.md), the plain way.
#include "hand.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace {

constexpr int MELDS = 4;
constexpr int COPIES = 4;
constexpr int LACKS_TOO_MUCH = 99;

// How many there are of each rank, which begins at 1; two more ranks that are always empty.
using Suited = std::array<int, 12>;
using Counts = std::array<Suited, 3>;

Counts counts_of(const Hand& hand) {
    Counts counts{};
    for (Tile tile : hand) ++counts[tile.suit()][tile.rank()];
    return counts;
}

// What is true of a way to read a hand as melds and a pair.
struct Reading {
    bool triplets = true;
    bool terminals = true;
    bool two_five_eight = true;

    Reading with_alike(int rank) const {
        return {triplets, terminals && (rank == 1 || rank == 9), two_five_eight && rank % 3 == 2};
    }
    Reading with_sequence(int low) const { return {false, terminals && (low == 1 || low == 7), false}; }

    int value(bool flush) const {
        if (flush && terminals) return 16;
        if (triplets && (flush || two_five_eight)) return 8;
        if (flush || terminals) return 4;
        return triplets ? 2 : 1;
    }
};

// The best value over the ways to read what is left, from this rank of this suit on; 0 where
// there is none. The pair is taken where it comes.
int best_reading(Counts& left, int suit, int rank, bool paired, Reading reading, bool flush) {
    while (suit < 3 && left[suit][rank] == 0) {
        if (++rank > 9) ++suit, rank = 1;
    }
    if (suit == 3) return paired ? reading.value(flush) : 0;
    Suited& s = left[suit];
    int best = 0;
    const auto with = [&](int alike, bool now_paired) {
        if (s[rank] < alike) return;
        s[rank] -= alike;
        best = std::max(best, best_reading(left, suit, rank, now_paired, reading.with_alike(rank), flush));
        s[rank] += alike;
    };
    with(3, paired);
    if (!paired) with(2, true);
    if (rank <= 7 && s[rank + 1] > 0 && s[rank + 2] > 0) {
        for (int i = 0; i < 3; ++i) --s[rank + i];
        best = std::max(best, best_reading(left, suit, rank, paired, reading.with_sequence(rank), flush));
        for (int i = 0; i < 3; ++i) ++s[rank + i];
    }
    return best;
}

// What a suit lacks of holding so many melds, without and with the pair.
using Lacks = std::array<std::array<int, 2>, MELDS + 1>;

// Goes from rank to rank. What matters of the lower ranks is how many sequences began at the
// last rank and at the one before. Three like sequences are three triplets, so two are enough.
Lacks lacks_of(const Suited& held) {
    struct State {
        std::array<std::array<Lacks, 3>, 3> at;  // [began one before][began at the last]
    };
    const auto nowhere = [] {
        State state;
        for (auto& row : state.at) {
            for (auto& lacks : row) {
                for (auto& pair : lacks) pair.fill(LACKS_TOO_MUCH);
            }
        }
        return state;
    };
    State state = nowhere();
    state.at[0][0][0][0] = 0;
    for (int rank = 1; rank <= 9; ++rank) {
        State next = nowhere();
        for (int before = 0; before <= 2; ++before)
            for (int last = 0; last <= 2; ++last)
                for (int melds = 0; melds <= MELDS; ++melds)
                    for (int paired = 0; paired <= 1; ++paired) {
                        const int so_far = state.at[before][last][melds][paired];
                        if (so_far >= LACKS_TOO_MUCH) continue;
                        for (int begun = 0; begun <= (rank <= 7 ? 2 : 0); ++begun)
                            for (int triplet = 0; triplet <= 1; ++triplet)
                                for (int pair = 0; pair <= 1 - paired; ++pair) {
                                    const int wanted = before + last + begun + 3 * triplet + 2 * pair;
                                    const int total = melds + begun + triplet;
                                    if (wanted > COPIES || total > MELDS) continue;
                                    int& least = next.at[last][begun][total][paired + pair];
                                    least = std::min(least, so_far + std::max(0, wanted - held[rank]));
                                }
                    }
        state = next;
    }
    return state.at[0][0];
}

Lacks both(const Lacks& one, const Lacks& other) {
    Lacks sum;
    for (auto& pair : sum) pair.fill(LACKS_TOO_MUCH);
    for (int a = 0; a <= MELDS; ++a)
        for (int b = 0; a + b <= MELDS; ++b) {
            sum[a + b][0] = std::min(sum[a + b][0], one[a][0] + other[b][0]);
            sum[a + b][1] = std::min({sum[a + b][1], one[a][1] + other[b][0], one[a][0] + other[b][1]});
        }
    return sum;
}

// What these suits lack of seven pairs: a pair lacks one tile where there is a single for it,
// and else two.
int lacks_of_pairs(const std::vector<const Suited*>& suits) {
    int pairs = 0;
    int singles = 0;
    for (const Suited* suit : suits) {
        for (int held : *suit) pairs += held / 2, singles += held % 2;
    }
    const int missing = std::max(0, 7 - pairs);
    return missing + std::max(0, missing - singles);
}

}  // namespace

Hand::Hand(const std::string& notation) {
    const std::string letters = "cbd";
    std::string ranks;
    for (char c : notation) {
        if (c >= '1' && c <= '9') {
            ranks += c;
            continue;
        }
        const auto suit = letters.find(c);
        if (suit == std::string::npos || ranks.empty()) {
            throw std::invalid_argument("\"" + notation + "\" is no hand: expected ranks and then " +
                                        "their suit c, b or d, as in 122367c1478b1389d");
        }
        for (char rank : ranks) add(Tile(static_cast<Suit>(suit), rank - '0'));
        ranks.clear();
    }
    if (!ranks.empty()) throw std::invalid_argument("\"" + notation + "\" is no hand: a suit is missing");
}

void Hand::add(Tile tile) {
    if (!tile.valid()) throw std::invalid_argument(std::to_string(tile) + " is no tile");
    tiles_.insert(std::upper_bound(tiles_.begin(), tiles_.end(), tile), tile);
}

bool Hand::remove(Tile tile) {
    const auto found = std::find(tiles_.begin(), tiles_.end(), tile);
    if (found == tiles_.end()) return false;
    tiles_.erase(found);
    return true;
}

int Hand::count(Tile tile) const {
    return static_cast<int>(std::count(tiles_.begin(), tiles_.end(), tile));
}

int Hand::score(bool missing_suit) const {
    if (size() != 14) return 0;
    Counts counts = counts_of(*this);
    int suits = 0;
    int roots = 0;
    bool pairs = true;
    for (const Suited& suit : counts) {
        suits += std::any_of(suit.begin(), suit.end(), [](int held) { return held > 0; });
        for (int held : suit) {
            if (held > COPIES) return 0;
            roots += held == COPIES;
            pairs = pairs && held % 2 == 0;
        }
    }
    if (missing_suit && suits == 3) return 0;
    const bool flush = suits == 1;
    const int value = std::max(best_reading(counts, 0, 1, false, {}, flush),
                               pairs ? (flush ? 16 : 4) : 0);
    return value << roots;
}

int Hand::distance(bool missing_suit) const {
    const Counts counts = counts_of(*this);
    const std::array<Lacks, 3> lacks{lacks_of(counts[0]), lacks_of(counts[1]), lacks_of(counts[2])};
    if (!missing_suit) {
        const int melds = both(both(lacks[0], lacks[1]), lacks[2])[MELDS][1];
        return std::min(melds, lacks_of_pairs({&counts[0], &counts[1], &counts[2]})) - 1;
    }
    int least = LACKS_TOO_MUCH;
    for (int given_up = 0; given_up < 3; ++given_up) {
        const int one = (given_up + 1) % 3;
        const int other = (given_up + 2) % 3;
        least = std::min({least, both(lacks[one], lacks[other])[MELDS][1],
                          lacks_of_pairs({&counts[one], &counts[other]})});
    }
    return least - 1;
}

std::ostream& operator<<(std::ostream& out, const Hand& hand) {
    for (std::size_t i = 0; i < hand.size(); ++i) {
        out << hand[i].rank();
        if (i + 1 == hand.size() || hand[i + 1].suit() != hand[i].suit()) out << letter(hand[i].suit());
    }
    return out;
}
