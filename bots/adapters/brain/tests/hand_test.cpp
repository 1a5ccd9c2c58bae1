#include "hand.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <unordered_set>

template <class T>
std::string printed(const T& value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

TEST(ATile, is_made_from_its_number_and_turned_into_it) {
    const Tile tile = 17;
    EXPECT_EQ(tile.suit(), BAMBOOS);
    EXPECT_EQ(tile.rank(), 7);
    EXPECT_EQ(Tile(BAMBOOS, 7), tile);
    EXPECT_TRUE(tile == 17);
    EXPECT_EQ(tile.toInt(), 17);
    EXPECT_EQ(Tile().toInt(), 0);
    EXPECT_EQ(Tile(tile + 1).rank(), 8);
    EXPECT_EQ(printed(tile), "7b");
    EXPECT_EQ(printed(Tile(10)), "10");
    for (int number : {0, 10, 20, 30, -1, 99}) EXPECT_FALSE(Tile(number).valid()) << number;
}

TEST(ATile, is_a_key_of_every_container) {
    const std::set<Tile> sorted{29, 11, 1, 11};
    EXPECT_EQ(sorted.size(), 3u);
    EXPECT_EQ(*sorted.begin(), Tile(1));
    std::map<Tile, int> counts;
    counts[Tile(5)]++;
    EXPECT_EQ(counts[5], 1);
    EXPECT_EQ((std::unordered_set<Tile>{1, 2, 1}.size()), 2u);
}

TEST(AHand, holds_tiles_in_order) {
    Hand hand("91d5c1b");
    EXPECT_EQ(printed(hand), "5c1b19d");
    hand.add(Tile(DOTS, 1));
    EXPECT_EQ(hand.count(21), 2);
    EXPECT_TRUE(hand.remove(21));
    EXPECT_TRUE(hand.contains(21));
    EXPECT_TRUE(hand.remove(21));
    EXPECT_FALSE(hand.remove(21));
    EXPECT_EQ(hand.size(), 3u);
    EXPECT_EQ(hand[1], Tile(11));
    EXPECT_THROW(hand.add(10), std::invalid_argument);
    for (const char* wrong : {"12", "c", "0c", "1x", "1 c"}) {
        EXPECT_THROW(Hand{wrong}, std::invalid_argument) << wrong;
    }
}

// The worked examples of docs/rules/mahjong.md, and some that follow from its table.
TEST(AHand, has_the_value_of_the_rules_page) {
    const std::map<std::string, int> worked{
        {"11112345678999c", 8},     {"111222333444c55c", 8},  {"112233c445566d77c", 4},
        {"112233445566c77c", 16},   {"11112233445566c", 32},  {"11112222333344c", 128},
        {"12378999911123c", 64},    {"222555888c222d55d", 8}, {"111222333c444d55d", 2},
        {"123c789c123d789d11c", 4}, {"123c789c123d789d55c", 1},
        {"123456c789c123b5d", 0},   {"123c456b789d444c22c", 0},
    };
    for (const auto& [hand, value] : worked) {
        EXPECT_EQ(Hand(hand).score(), value) << hand;
        EXPECT_EQ(Hand(hand).isWinning(), value > 0) << hand;
        EXPECT_EQ(Hand(hand).distance() == -1, value > 0) << hand;
    }
    EXPECT_EQ(Hand("123c456b789d444c22c").score(false), 1);
}

TEST(AHand, has_the_distance_of_the_rules_page) {
    EXPECT_EQ(Hand("122367c1478b1389d").distance(), 3);
    // The fourth meld must be of tiles that exist, and within two suits.
    EXPECT_EQ(Hand("123456c789c123b5d").distance(), 1);
    EXPECT_EQ(Hand("123456c789c123b5d").distance(false), 0);
}

// Not a limit that fails: it prints what a brain may count on.
TEST(AHand, has_its_distance_quickly) {
    const Hand hand("122367c1478b1389d");
    constexpr int TIMES = 2000;
    int sum = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < TIMES; ++i) sum += hand.distance();
    const auto time = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(sum, 3 * TIMES);
    std::cout << std::chrono::duration<double, std::micro>(time).count() / TIMES
              << " us a distance\n";
}
