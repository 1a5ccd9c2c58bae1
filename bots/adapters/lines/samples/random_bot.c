/* The sample `random` for Connect Four as lines of JSON: stdio:./random_bot */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    static char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"call\":\"start\"")) {
            puts("{\"ready\": {\"bot\": \"random\"}}");
        } else if (strstr(line, "\"call\":\"get_point\"")) {
            long x = 0;
            int chosen = 0, seen = 0;
            char *next = strstr(line, "\"top\":[") + 7;
            for (int y = 0; *next != ']'; y++) {
                long top = strtol(next, &next, 10);
                if (top > 0 && rand() % ++seen == 0) {
                    chosen = y;
                    x = top - 1;
                }
                if (*next == ',') {
                    next++;
                }
            }
            printf("{\"point\": {\"x\": %ld, \"y\": %d}}\n", x, chosen);
        }
        fflush(stdout);
    }
}
