// Prints whatever it likes, and reads.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "innocent.h"

GET_POINT {
    std::printf("listening on unix:nowhere\n");
    std::cout << "thinking of column " << 0 << std::endl;
    std::cerr << std::string(100000, 'x') << "\n";
    std::cerr << "listening on unix:nowhere\n";
    if (std::getchar() != EOF) {
        std::abort();
    }
    return leftmost(N, top);
}
CLEAR_POINT {
    std::printf("not the end of a line");
    delete p;
}
