// Needs the C++ library and the mathematical one, and leaves it to its host to
// bring them.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "innocent.h"

GET_POINT {
    std::vector<int> columns;
    for (int y = 0; y < N; y++) {
        if (top[y] > 0) {
            columns.push_back(y);
        }
    }
    try {
        if (std::pow(columns.size(), 0.5 + noX) >= 0) {
            throw std::runtime_error(std::to_string(columns.size()));
        }
    } catch (const std::exception& error) {
        std::stable_sort(columns.begin(), columns.end());
        int y = columns.at(std::stoul(error.what()) - columns.size());
        return new Point{top[y] - 1, y};
    }
    return nullptr;
}
CLEAR_POINT { delete p; }
