/* An engine of chess by UCI that costs nothing: it plays the moves of one game, which some legal
 * random moves make, whatever its opponent is. */

#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const MOVES[] = {
    "h2h4", "g7g5", "h1h2", "f7f6", "f2f4", "g5g4", "c2c3", "c7c6", "b2b3", "b7b6",
    "d2d4", "c8a6", "f4f5", "d8c8", "c1h6", "e8f7", "e2e3", "c8e8", "d1g4", "d7d5",
    "g4f4", "a6b5", "f4g5", "f8h6", "a2a3", "a7a5", "h2h1", "b5d3", "e1d2", "e8d7",
    "d2d1", "e7e6", "h1h2", "d7a7", "d1e1", "d3f5", "c3c4", "f5e4", "g1e2", "b8d7",
    "g5g8", "f7g8", "a1a2", "g8f8", "b3b4", "e6e5", "a2a1", "a7a6", "b1c3", "f8f7",
    "c3b1", "e4d3", "e1f2", "f7e8", "f2g1", "c6c5", "b4c5", "e8e7", "e2f4", "h6f8",
};

int main(void) {
    const size_t most = sizeof MOVES / sizeof *MOVES;
    char *line = NULL;
    size_t size = 0, played = 0;
    while (getline(&line, &size, stdin) > 0) {
        line[strcspn(line, "\r\n")] = 0;
        if (strcmp(line, "uci") == 0) {
            puts("id name known\nid author Bot Arena\nuciok");
        } else if (strcmp(line, "isready") == 0) {
            puts("readyok");
        } else if (strncmp(line, "position", 8) == 0) {
            const char *moves = strstr(line, " moves ");
            played = 0;
            for (moves = moves ? moves + 6 : ""; *moves; moves++) {
                played += *moves == ' ';
            }
        } else if (strncmp(line, "go", 2) == 0) {
            printf("info depth 1 score cp 0\nbestmove %s\n", played < most ? MOVES[played] : "0000");
        } else if (strcmp(line, "quit") == 0) {
            break;
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
