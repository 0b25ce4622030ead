/* A job in process: docs/design/015, src/scurry/runtime/local.
 *
 * One transaction of checkpoint.db writes state, positions and output of a batch. Then the sinks commit the output.
 * A start lets them commit what is in the database, unless the file `committed` says that they have.
 */

#define SINKS_BEFORE_CHECKPOINT 1
#define NOTED_BEFORE_SINKS 2
#define REST_NOT_COMMITTED 3
#define STATE_AND_POSITIONS_APART 4
#define GENERATION_DROPS_OUTPUT 5
#define IDS_BEGIN_ANEW 6
#define NO_LOCK 7
#define RESTORES_HALF 8
#define ORIGIN_DELETED_AT_ONCE 9
#define GENERATION_BEFORE_ORIGIN 10
#define SAVEPOINT_BEFORE_OUTPUT 11
#define SAVEPOINT_OF_OLD_POSITIONS 12

#include "common.pml"

/* checkpoint.db */
NUMBER gen, batch;     /* batch: the id of the next one */
NUMBER pos, state;
NUMBER since, until;   /* the output of the last batch */
byte parts;            /* how many of its origin the generation has restored */
bool begun, program, origin;
/* the file `committed`: the id after the last batch that it names */
NUMBER noted;
/* origin-N */
bool o_whole;
NUMBER o_state, o_pos;
/* the savepoint with which the job was stopped */
bool stopped;
NUMBER sp_state, sp_pos;
#ifdef TRACE
int mark;              /* which positions the database has: those of a trace are opaque */
#define MARK mark
#define REMEMBER_MARK if :: doomed[me] == 1 -> mark = -1 :: else -> mark = seen_c fi
#define SAME_MARK (mark == -1 -> seen_c : mark)
#else
#define REMEMBER_MARK skip
#define SAME_MARK 0
#endif

#define RESTORING (origin && parts < PARTS)
#define FORGET running = false; anew = false; my_pos = 0; my_state = 0; my_since = 0; my_until = 0; my_id = 0; my_parts = 0

mtype = { DOWN, START, MOVE, SAVING, BEGIN, REST, REST_0, REST_1, RUN, IDLE, SAVE, SAVE_POSITIONS, COMMIT_0, COMMIT_1,
          NOTE, OVER };

proctype driver(bit me) {
    mtype pc = DOWN;
    bool want;             /* which program it has */
    bool anew;             /* whether the next generation begins with another origin */
    bool running;
    NUMBER my_pos, my_state, my_since, my_until, my_id;  /* in memory */
    byte my_parts;

end: do
    /* ---------------------------------------------------------------- the start */
    :: atomic { pc == DOWN && (holder == NOBODY || MUTANT == NO_LOCK) && STEP(TAKEN, 0, 0, 0) ->
        holder = me; want = program; pc = START;
        if
        :: true
        :: gen > 0 && BOUND(changes < CHANGES) -> want = !program; COUNT(changes)
        fi;
        DONE }
    :: atomic { pc == START ->
        MUST(noted <= batch);
        if
        :: finished -> pc = OVER
        :: !finished && gen == 0 -> anew = stopped; pc = BEGIN
        :: !finished && gen > 0 && want != program -> pc = MOVE
        :: !finished && gen > 0 && want == program && begun && RESTORING && MUTANT != RESTORES_HALF ->
            anew = false; pc = BEGIN
        :: !finished && gen > 0 && want == program && (!(begun && RESTORING) || MUTANT == RESTORES_HALF) -> pc = REST
        fi }
#ifdef TRACE
    :: atomic { pc == START && !finished && gen > 0 && seen == BEGUN -> pc = BEGIN }  /* from a savepoint that is named */
#endif

    /* ---------------------------------------------------------------- another generation */
    :: atomic { pc == MOVE ->
        if
        :: !begun || RESTORING -> anew = false; pc = BEGIN
        :: begun && !RESTORING -> anew = true; o_whole = false;
            pc = (MUTANT == GENERATION_BEFORE_ORIGIN -> BEGIN : SAVING)
        fi }
    :: atomic { pc == SAVING && HIDDEN -> o_state = state; o_pos = pos; o_whole = true; pc = BEGIN }
    :: atomic { pc == BEGIN && STEP(BEGUN, gen + 1, batch, ANY_C) ->
        gen++; program = want; begun = false; parts = 0; state = 0;
#ifdef TRACE
        if
        :: doomed[me] == 1 || seen_c == 1 -> o_whole = true; anew = true; o_state = pos; o_pos = pos  /* it has an origin */
        :: doomed[me] == 1 || seen_c == 0 -> origin = false; anew = false
        fi;
        mark = 0;
#endif
        pos = 0; origin = origin || anew;
        if
        :: gen == 1 && stopped -> o_state = sp_state; o_pos = sp_pos; o_whole = true
        :: else
        fi;
        if
        :: MUTANT == GENERATION_DROPS_OUTPUT -> noted = batch
        :: MUTANT == IDS_BEGIN_ANEW && noted == batch -> batch = 0; noted = 0
        :: else
        fi;
        pc = REST; DONE }

    /* ---------------------------------------------------------------- output that was not committed */
    :: atomic { pc == REST && HIDDEN -> pc = (noted == batch || MUTANT == REST_NOT_COMMITTED -> RUN : REST_0) }
#ifdef TRACE
    :: atomic { pc == REST && noted == batch && batch > 0 && seen == OUTPUT && HIDDEN -> pc = REST_0 }  /* the note cannot be read */
#endif
    :: atomic { pc == REST_0 && HIDDEN -> commit_to(0, batch - 1, since, until); pc = REST_1 }
    :: atomic { pc == REST_1 && STEP(OUTPUT, batch - 1, 0, 0) -> commit_to(1, batch - 1, since, until); pc = NOTE; DONE }

    /* ---------------------------------------------------------------- batches */
    :: atomic { pc == RUN && STEP(STARTED, gen, batch, SAME_MARK) ->
        if
        :: begun -> my_pos = pos; my_state = state; my_parts = (origin && MUTANT != RESTORES_HALF -> parts : PARTS)
        :: !begun && origin -> MUST(o_whole); my_pos = o_pos; my_state = 0; my_parts = 0;
            if
            :: MUTANT == ORIGIN_DELETED_AT_ONCE -> o_whole = false
            :: else
            fi
        :: !begun && !origin -> my_pos = 0; my_state = 0; my_parts = PARTS
        fi;
        running = true; pc = IDLE; DONE }
    :: atomic { pc == IDLE && my_parts < PARTS && HIDDEN ->
#ifdef TRACE
        my_parts = (seen == CHECKPOINT && seen_b == 0 -> PARTS : 0);
#else
        my_parts++;
#endif
        my_since = my_pos; my_until = my_pos; my_id = batch;
        if
        :: my_parts == PARTS -> my_state = o_state
        :: else
        fi;
        pc = SAVE }
    :: atomic { pc == IDLE && my_parts == PARTS && BOUND(my_pos < RECORDS) && HIDDEN ->
        MUST(my_state == my_pos);
        my_since = my_pos;
        if
        :: my_pos++
        :: !TRACING && my_pos + 2 <= RECORDS -> my_pos = my_pos + 2
        fi;
        my_until = my_pos; my_state = my_pos; my_id = batch;
        pc = (MUTANT == SINKS_BEFORE_CHECKPOINT -> COMMIT_0 : SAVE) }
    :: atomic { pc == SAVE && MUTANT == STATE_AND_POSITIONS_APART -> state = my_state; pc = SAVE_POSITIONS }
    :: atomic { ((pc == SAVE && MUTANT != STATE_AND_POSITIONS_APART) || pc == SAVE_POSITIONS) &&
            STEP(CHECKPOINT, batch, my_parts < PARTS, ANY_C) ->
        REMEMBER_MARK; batch++; begun = true; pos = my_pos; parts = my_parts; since = my_since; until = my_until;
        if
        :: pc == SAVE -> state = my_state
        :: else
        fi;
        if
        :: my_parts == PARTS -> origin = false
        :: else
        fi;
        if
        :: MUTANT == NOTED_BEFORE_SINKS -> noted = batch
        :: else
        fi;
        pc = (MUTANT == SINKS_BEFORE_CHECKPOINT -> NOTE : COMMIT_0); DONE }
    :: atomic { pc == COMMIT_0 && HIDDEN -> commit_to(0, my_id, my_since, my_until); pc = COMMIT_1 }
    :: atomic { pc == COMMIT_1 && STEP(OUTPUT, my_id, 0, 0) ->
        commit_to(1, my_id, my_since, my_until); pc = (MUTANT == SINKS_BEFORE_CHECKPOINT -> SAVE : NOTE); DONE }
    :: atomic { pc == NOTE && STEP(NOTED, batch - 1, 0, 0) -> noted = batch; pc = (running -> IDLE : RUN); DONE }

    /* ---------------------------------------------------------------- requests and the end */
    :: atomic { running && BOUND(savepoints < 1) && begun && my_parts == PARTS &&
            (pc == IDLE || (pc == SAVE && MUTANT == SAVEPOINT_OF_OLD_POSITIONS)) && STEP(SAVED, batch - 1, 0, 0) ->
        COUNT(savepoints); MUST(my_state == pos); DONE }
    :: atomic { running && BOUND(stops < 1) && begun && my_parts == PARTS && !TRACING &&
            (pc == IDLE || (pc == COMMIT_0 && MUTANT == SAVEPOINT_BEFORE_OUTPUT)) ->
        stops++; stopped = true; sp_state = my_state; sp_pos = pos; MUST(ALL_OUT(sp_pos) && sp_state == sp_pos);
        /* another job goes on from it, in a directory of its own: its sinks know no batch */
        holder = NOBODY; gen = 0; batch = 0; noted = 0; begun = false; origin = false; parts = 0; pos = 0; state = 0;
        o_whole = false; o_state = 0; o_pos = 0; since = 0; until = 0; known[0] = 0; known[1] = 0; FORGET; pc = DOWN }
    :: atomic { running && pc == IDLE && BOUND(changes < CHANGES) && HIDDEN -> COUNT(changes); want = !program; FORGET; pc = MOVE }
    :: atomic { running && pc == IDLE && (TRACING || (begun && my_parts == PARTS && pos == RECORDS)) && STEP(FINISHED, 0, 0, 0) ->
        MUST(state == pos && ALL_OUT(pos)); finished = true; pc = OVER; FORGET; DONE }
    :: atomic { pc == OVER && holder == me -> holder = NOBODY }

    /* ---------------------------------------------------------------- crashes */
    :: atomic { pc != DOWN && pc != OVER && BOUND(crashes < CRASHES) ->
        COUNT(crashes); pc = DOWN; FORGET; CRASHED;
        if
        :: holder == me -> holder = NOBODY
        :: else
        fi;
        if
        :: true
        :: noted > 0 && !TRACING -> noted = 0  /* the machine's crash: the file is not forced to the disk */
        fi }
    :: atomic { pc != DOWN && pc != OVER && pc != START && BOUND(crashes < CRASHES) && HIDDEN ->
        COUNT(crashes); pc = START; FORGET }        /* the job fails, and its process begins another attempt */
#ifdef TRACE
    :: atomic { pc == OVER && holder != me && HIDDEN -> pc = DOWN }
    :: atomic { pc != DOWN && pc != OVER && doomed[me] == 0 -> doomed[me] = 1 }
    :: atomic { pc != DOWN && pc != OVER && pc != START && doomed[me] == 2 && failed != at ->
        failed = at; pc = START; FORGET; CRASHED }          /* the attempt fails in a step that it had no time to record */
#endif
    od
}

WATCH
