// Reads hands, one a line, and prints each with its value and distance: where a missing suit
// is required, and where it is not.
#include <iostream>
#include <string>

#include "hand.h"

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const Hand hand(line);
        std::cout << hand << ' ' << hand.score(true) << ' ' << hand.distance(true) << ' '
                  << hand.score(false) << ' ' << hand.distance(false) << '\n';
    }
}
