#include "bot.hpp"

// The lowest card that beats is played.
int main() {
    using namespace games::big_two::v1;
    const Cards hand{CARD_TWO_OF_SPADES, CARD_NINE_OF_HEARTS, CARD_FIVE_OF_CLUBS};
    if (choose(hand, {CARD_SEVEN_OF_DIAMONDS}, false) == Cards{CARD_NINE_OF_HEARTS}) return 0;
    std::cerr << "expected the nine of hearts\n";
    return 1;
}
