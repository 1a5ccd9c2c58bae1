// Starts a child, and a daemon in a session of its own, that never end; writes
// down which they are, in the folder that it runs in, where it may. Then it plays on, or where
// it is due waits for ever.
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

#include "innocent.h"

static void forever() {
    for (;;) {
        pause();
    }
}

static void write_down(const char* what) {
    // In a sandbox it can't.
    if (FILE* file = std::fopen("forked", "a")) {
        std::fprintf(file, "%s %d\n", what, getpid());
        std::fclose(file);
    }
}

GET_POINT {
    if (moves(M, N, board) == 1) {
        int done[2];
        if (pipe(done) != 0) {
            return nullptr;
        }
        if (fork() == 0) {
            write_down("child");
            (void)!write(done[1], "!", 1);
            forever();
        }
        pid_t between = fork();
        if (between == 0) {
            setsid();
            if (fork() == 0) {
                setsid();
                write_down("daemon");
                (void)!write(done[1], "!", 1);
                forever();
            }
            _exit(0);
        }
        waitpid(between, nullptr, 0);
        // Both have written themselves down before the game goes on.
        for (int both = 0; both < 2; both++) {
            char byte;
            (void)!read(done[0], &byte, 1);
        }
    }
    if (due(M, N, board, noY)) {
        forever();
    }
    return leftmost(N, top);
}
CLEAR_POINT { delete p; }
