/* Reads a trace for the models: a step in each line, as name, driver and three numbers. */
#include <stdio.h>
#include <stdlib.h>

static int steps[200000][5], count = -1;
/* Of each driver, the name of its next step, from each step on. */
static int next_own[200001][2];
/* From each step on, the end of the next batch that is computed. */
static int next_end[200001];

static void load(void) {
    FILE *file = fopen(getenv("TRACE_FILE"), "r");
    for (count = 0; count < 200000; count++) {
        int *s = steps[count];
        if (fscanf(file, "%d %d %d %d %d", s, s + 1, s + 2, s + 3, s + 4) != 5) break;
    }
    fclose(file);
    next_own[count][0] = next_own[count][1] = 99;
    for (int i = count - 1; i >= 0; i--) {
        next_own[i][0] = next_own[i + 1][0];
        next_own[i][1] = next_own[i + 1][1];
        next_end[i] = steps[i][0] == 5 ? steps[i][3] : next_end[i + 1];
        if (steps[i][0] != 14) next_own[i][steps[i][1]] = steps[i][0];
    }
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
    now.next_of[0] = next_own[now.at < count ? now.at : count][0]; \
    now.next_of[1] = next_own[now.at < count ? now.at : count][1]; \
    now.next_end = next_end[now.at < count ? now.at : count]; \
    now.at++; now.next_logged = logged_at_start(now.at - 1); \
} while (0)
