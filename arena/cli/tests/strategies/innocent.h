// What the strategies of these tests have in common: the classic interface, a
// strategy that plays the leftmost column, and whether it is time to sin.
#pragma once

struct Point {
    int x;
    int y;
};

#define GET_POINT                                                                 \
    extern "C" Point* getPoint(const int M, const int N, const int* top,          \
                               const int* board, const int lastX, const int lastY, \
                               const int noX, const int noY)
#define CLEAR_POINT extern "C" void clearPoint(Point* p)

// How many moves this side has made.
static int moves(int M, int N, const int* board) {
    int own = 0;
    for (int cell = 0; cell < M * N; cell++) {
        own += board[cell] == 2;
    }
    return own;
}

// From the third move on, where the forbidden cell is in an even column.
static bool due(int M, int N, const int* board, int noY) {
    return noY % 2 == 0 && moves(M, N, board) >= 2;
}

static Point* leftmost(int N, const int* top) {
    for (int y = 0; y < N; y++) {
        if (top[y] > 0) {
            return new Point{top[y] - 1, y};
        }
    }
    return nullptr;
}
