#include "bot.hpp"

int main() { return play(); }
