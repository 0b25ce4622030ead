/* What both engines share: sinks, crashes, bounds, mutants, and how a trace is followed.
 *
 * Records are numbered. State, positions and output have the first so many of them, so that one number says which.
 *
 * Without TRACE, all runs within the bounds are explored, and MUST is what must hold.
 * With TRACE, only runs are explored that take the steps of a recorded trace, and a run ends where MUST does not hold:
 * the trace is accepted if one of them reaches its end. Steps that the engine does not record may be taken meanwhile.
 * A process that is killed, or an attempt that fails, may have taken one step more than it had time to record.
 */

#define SINKS 2

#ifdef TRACE

#define NUMBER int
#define MUST(what) (what)
#define BOUND(what) true
#define COUNT(what) skip
#define KEPT 128
#define AT(number) ((number) % KEPT)
#define TRACING true

c_decl {
    \#include "trace.h"
}

int at, seen, seen_by, seen_a, seen_b, seen_c, next_logged;
int next_end;   /* of the batch of the next step `computed` */
int failed;     /* the place in the trace at which the last attempt failed in a step that is not in it */
byte doomed[2];
byte next_of[2]; /* the name of the next step of each driver */
bool lasting;   /* whether sinks keep what they have when the job is killed */
bool struck;    /* whether a test has damaged files since the last start */

#define STEP(name, a, b, c) (doomed[me] == 1 || (doomed[me] == 0 && seen == name && seen_by == me && \
    seen_a == (a) && seen_b == (b) && seen_c == (c)))
#define DONE if :: doomed[me] == 1 -> doomed[me] = 2 :: else -> c_code { look(); } fi
#define HIDDEN (doomed[me] == 0)
/* Whether a driver may die, or its attempt may fail: its next step is not one of the middle of an attempt. */
#define BEGINS(step) (step == TAKEN || step == BEGUN || step == STARTED || step == SETTLED || step == REPAIRED || step == TRACED)
#define MAY_FAIL BEGINS(next_of[me])
#define CRASHED doomed[me] = 0
#define ANY_B seen_b
#define ANY_C seen_c
#define REMEMBER_LASTING if :: doomed[me] == 1 :: else -> lasting = seen_c fi
#define MY_LASTING lasting

#else

#define NUMBER byte
#define MUST(what) assert(what)
#define BOUND(what) (what)
#define COUNT(what) what++
#define KEPT 10
#define AT(number) (number)
#define TRACING false

#define STEP(name, a, b, c) true
#define DONE skip
#define HIDDEN true
#define MAY_FAIL true
#define CRASHED skip
#define ANY_B 0
#define ANY_C 0
#define REMEMBER_LASTING skip
#define MY_LASTING true

#endif

/* The steps that the engine records. */
#define TAKEN 1
#define BEGUN 2
#define STARTED 3
#define ASSIGNED 4
#define COMPUTED 5
#define PREPARED 6
#define CHECKPOINT 7
#define OUTPUT 8
#define NOTED 9
#define SAVED 10
#define SETTLED 11
#define REPAIRED 12
#define FINISHED 13
#define DAMAGED 14  /* by the test */
#define TRACED 99

/* Bounds, and the mutant: a fault that the model has on purpose. They are read from the environment. */
byte MUTANT, RECORDS, CRASHES, CHANGES, DRIVERS, TAKEOVERS, DAMAGES, PARTS, MESSAGES, LOSSES;

c_decl {
    \#include <stdlib.h>
    static int setting(const char *name, int otherwise) { char *text = getenv(name); return text ? atoi(text) : otherwise; }
}

/* Sinks are other systems: each knows by their ids the batches that it has. */
NUMBER out[SINKS];    /* the number of records that it has */
NUMBER known[SINKS];  /* the id after the last one that it knows */

/* Whether entries of the log of assignments are lost: the records after them are requested again, and a batch may get
 * others than it had. Sinks that take back what batches have written that are computed again are right all the same. */
bool lost;

inline commit_to(sink, id, since, until) {
    if
    :: known[sink] > id && !lost
    :: known[sink] > id && lost -> MUST(out[sink] >= since || !MY_LASTING); out[sink] = until; known[sink] = id + 1
    :: known[sink] <= id -> MUST(out[sink] == since || !MY_LASTING); out[sink] = until; known[sink] = id + 1
    fi
}

#define ALL_OUT(count) ((out[0] == (count) && out[1] == (count)) || !MY_LASTING)

#define NOBODY 2
byte holder = NOBODY;  /* of the checkpoint directory */
byte crashes, changes, savepoints, stops;
bool finished;         /* as the directory has it */

/* Every run comes to the end of the input. A trace may end before. */
#ifdef TRACE
#define WATCH active proctype watch() { \
    do \
    :: atomic { seen == DAMAGED -> struck = true; c_code { look(); } } \
    :: seen == TRACED -> assert(false) \
    od }
#else
#define WATCH active proctype watch() { timeout -> assert(finished) }
#endif

init {
    atomic {
        c_code {
            now.MUTANT = setting("MUTANT", 0); now.RECORDS = setting("RECORDS", 3); now.CRASHES = setting("CRASHES", 2);
            now.CHANGES = setting("CHANGES", 1); now.TAKEOVERS = setting("TAKEOVERS", 0); now.DAMAGES = setting("DAMAGES", 0);
            now.PARTS = setting("PARTS", 1); now.DRIVERS = setting("DRIVERS", 1);
            now.MESSAGES = setting("MESSAGES", 0); now.LOSSES = setting("LOSSES", 0);
        }
#ifdef TRACE
        c_code { look(); }
#endif
        run driver(0);
        if
        :: DRIVERS > 1 -> run driver(1)
        :: else
        fi
    }
}
