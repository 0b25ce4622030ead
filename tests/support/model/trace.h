/* Reads a trace for the models: a step in each line, as name, driver and three numbers. */
#include <stdio.h>
#include <stdlib.h>

static int steps[200000][5], count = -1;

static void load(void) {
    FILE *file = fopen(getenv("TRACE_FILE"), "r");
    for (count = 0; count < 200000; count++) {
        int *s = steps[count];
        if (fscanf(file, "%d %d %d %d %d", s, s + 1, s + 2, s + 3, s + 4) != 5) break;
    }
    fclose(file);
}

/* How many assignments are logged when the next driver starts: the last one may have had no time to say so. */
static int logged_at_start(int at) {
    for (; at < count && steps[at][0] != 3; at++);
    return at < count ? steps[at][4] : 0;
}

#define look() do { \
    if (count < 0) load(); \
    if (now.at < count) { \
        int *s = steps[now.at]; \
        now.seen = s[0]; now.seen_by = s[1]; now.seen_a = s[2]; now.seen_b = s[3]; now.seen_c = s[4]; \
    } else { now.seen = 99; now.seen_by = now.seen_a = now.seen_b = now.seen_c = 0; } \
    now.at++; now.next_logged = logged_at_start(now.at - 1); \
} while (0)
