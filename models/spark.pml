/* A job on Spark: docs/design/005, 006, 018, src/scurry/spark.
 *
 * Assignments are logged before Spark plans a batch of them. Its tasks write the next version of the state. The output
 * is noted (`prepared`), the sinks commit it, and last Spark commits the batch. Two drivers share the directory by a
 * lease: one that was silent may find that the other has taken it over at any moment.
 *
 * Offsets, versions and batches count from 0 in each generation; sinks know a batch by `first` plus its number.
 */

#define SHOWN_BEFORE_LOGGED 1
#define SINKS_BEFORE_NOTE 2
#define NOTE_IGNORED 3
#define SPARK_COMMITS_FIRST 4
#define IDS_BEGIN_ANEW 5
#define LEASE_UNCHECKED 6
#define PENDING_DROPPED 7
#define POSITIONS_OF_ALL_LOGGED 8
#define STATE_TWICE 9
#define TORN_COPY 10
#define FILES_DELETED_AT_ONCE 11
#define RESTORES_HALF 12
#define ORIGIN_DELETED_AT_ONCE 13
#define GENERATION_BEFORE_ORIGIN 14
#define ROLLED_BACK_AS_ONE 15
#define NOTE_OF_ROLLED_BACK_KEPT 16
#define MOVES_WHAT_IS_ROLLED_BACK 17
#define SAVEPOINT_OF_UNCOMMITTED 18
#define SAVEPOINT_REUSES_IDS 19
#define RESTORES_AGAIN_UNSETTLED 20
#define NOTE_KEPT_WITHOUT_ENTRY 21
#define STOPS_WITH_WHAT_IS_ROLLED_BACK 22

#include "common.pml"

#define RETAINED 2           /* versions of state that can be loaded */

/* scurry.json, and the states that generations begin with: that of the present one, and the next */
NUMBER gen, first;
bool program, origin, origin_there, next_whole;
NUMBER o_rec, n_rec;         /* records in the state */
NUMBER o_pos, n_pos;         /* positions of the sources, */
NUMBER o_pending, n_pending; /* and how many of the records before them are not in the state */

/* assignments/: how many are logged; of each the records up to its end, the parts restored, and where its entry ends */
NUMBER logged;
NUMBER rec_at[KEPT], entry_at[KEPT];
byte parts_at[KEPT];
/* spark/: batches planned, where they end, batches committed; the oldest version of state that can be loaded */
NUMBER planned, committed, oldest;
NUMBER end_of[KEPT];
NUMBER state_of[KEPT];       /* version -> records in it */
/* prepared: the batch plus 1, and its output */
NUMBER note, note_since, note_until;
/* assignments/replays: batches whose ends are remembered after a rollback */
NUMBER replays;
/* assignments/rolled-back: batches that sinks may know, though they were rolled back */
NUMBER undone;
/* whether files of committed batches are damaged, and how many batches are intact */
bool damaged;
NUMBER intact;
NUMBER whole;                /* assignments that are left of the log, then */
byte damages, losses, takeovers, messages;
/* the machine's copy of the newest run: the records in it, and whether its content is not that */
NUMBER copy;
bool torn;
/* savepoints: one that a user may start from, and whether the job was stopped with it */
bool sp_there, stopped;
NUMBER sp_rec, sp_pos, sp_pending;

#define RECORDS_UP_TO(offset) ((offset) == 0 -> o_pos - o_pending : rec_at[AT((offset) - 1)])
#define PARTS_UP_TO(offset) ((offset) == 0 -> 0 : parts_at[AT((offset) - 1)])
#define END_OF(batches) ((batches) == 0 -> 0 : end_of[AT((batches) - 1)])
#define ALL_PARTS (origin -> PARTS : 0)
#define RESTORED(batches) (!origin || PARTS_UP_TO(END_OF(batches)) == PARTS)
#define ALL_COMMITTED (b == committed && logged == END_OF(committed))
#define REFUSED (undone > committed && MUTANT != MOVES_WHAT_IS_ROLLED_BACK)

/* Runs that differ only in what nothing reads again are one. */
#ifdef TRACE
#define FORGET_BEFORE(batch) if :: (batch) > 1 -> end_of[AT((batch) - 2)] = 0; state_of[AT((batch) - 1)] = 0 :: else fi
#else
#define FORGET_BEFORE(batch) skip
#endif

/* Which of the assignments that wait a batch has is not said by the protocol: Spark reads those of different channels
 * together. A trace says it with the step that ends the computation; 0 stands for all. */
#ifdef TRACE
#define MAY_END(shown) (next_end == 0 || (next_end <= shown && (b < replays || entry_at[AT(next_end - 1)] == next_end)))
#define END_GIVEN(shown) (next_end == 0 -> shown : next_end)
#else
#define MAY_END(shown) true
#define END_GIVEN(shown) shown
#endif

/* Whether this driver may change the directory: the lease is looked at before. */
#define ALONE (holder == me || MUTANT == LEASE_UNCHECKED)

#define FORGET in_charge = false; submitted = false; ended = false; told = false; resumes = false; shown = 0; b = 0; mine = 0; \
    my_first = 0; anew = false; rest = 0; from = 0; to = 0; loaded = 0

/* A snapshot of a committed batch: its state, and the positions after the entry with its last assignment. */
#define SNAPSHOT(rec, pos, pending, version) \
    MUST(committed >= oldest); to = END_OF(committed); rec = state_of[AT(version)]; \
    pos = RECORDS_UP_TO((MUTANT == POSITIONS_OF_ALL_LOGGED -> logged : (to == 0 -> 0 : entry_at[AT(to - 1)]))); \
    pending = (MUTANT == PENDING_DROPPED || MUTANT == POSITIONS_OF_ALL_LOGGED -> 0 : pos - RECORDS_UP_TO(to)); \
    to = 0; MUST(rec == pos - pending)

inline begin_files() {
    logged = 0; planned = 0; committed = 0; oldest = 0; note = 0; note_since = 0; note_until = 0; replays = 0;
    undone = 0; damaged = false; intact = 0; whole = 0; copy = 0; torn = false;
#ifndef TRACE
    to = 0;
    do
    :: to < KEPT -> rec_at[to] = 0; entry_at[to] = 0; parts_at[to] = 0; end_of[to] = 0; state_of[to] = 0; to++
    :: else -> break
    od;
    to = 0;
#endif
    state_of[0] = o_rec
}

inline begin_generation(id) {
    if
    :: anew -> o_rec = n_rec; o_pos = n_pos; o_pending = n_pending; origin = true; origin_there = next_whole
    :: else
    fi;
    first = (MUTANT == IDS_BEGIN_ANEW -> 0 : id);
    gen++; program = want; anew = false; n_rec = 0; n_pos = 0; n_pending = 0; next_whole = false; begin_files(); pc = RUN
}

/* Log an entry: a part of an origin, or one or two records. */
inline log_entry() {
#ifdef TRACE
    until = (doomed[me] == 1 -> next_logged : seen_b);
    if
    :: until > logged && until - logged < KEPT
    fi;
    if
    :: rest > 0 && (doomed[me] == 1 || seen_c == 1) -> taken = 0             /* more parts follow */
    :: rest > 0 && (doomed[me] == 1 || seen_c == 0) -> taken = 0; rest = 0
    :: rest == 0 -> taken = 1
    fi;
    since = logged;
    do
    :: since < until ->
        rec_at[AT(since)] = RECORDS_UP_TO(since) + taken; parts_at[AT(since)] = ALL_PARTS - rest;
        entry_at[AT(since)] = until; since++
    :: else -> break
    od;
    logged = until;
#else
    if
    :: rest > 0 -> taken = 0; until = logged + 1 + (rest == 1 -> o_pending : 0); rest--  /* the last has what is pending */
    :: rest == 0 -> taken = 1; until = logged + 1
    :: rest == 0 && RECORDS_UP_TO(logged) + 2 <= RECORDS -> taken = 1; until = logged + 2
    fi;
    since = logged;
    do
    :: since < until ->
        rec_at[since] = RECORDS_UP_TO(since) + taken; parts_at[since] = PARTS_UP_TO(since) + 1 - taken; entry_at[since] = until;
        taken = 1; since++
    :: else -> break
    od;
    if
    :: MUTANT == SHOWN_BEFORE_LOGGED
    :: else -> logged = until
    fi;
#endif
    shown = (MUTANT == SHOWN_BEFORE_LOGGED -> until : logged); since = 0; until = 0; taken = 0
}

/* Log an entry without records: messages to tasks, such as that they save their state. */
inline log_messages() {
#ifdef TRACE
    log_entry();
#else
    rec_at[logged] = RECORDS_UP_TO(logged); parts_at[logged] = PARTS_UP_TO(logged); entry_at[logged] = logged + 1;
    logged++; shown = logged
#endif
}

/* Go back to the last batch that is intact: what follows is computed again, by its former ends as far as it is logged. */
inline roll_back() {
    undone = ((intact < committed || note > committed) && planned > undone -> planned : undone);
    note = (MUTANT == NOTE_OF_ROLLED_BACK_KEPT || (intact == committed && (whole == logged || MUTANT == NOTE_KEPT_WITHOUT_ENTRY))
        -> note : 0);
    replays = (planned > replays -> planned : replays);
    do
    :: replays > intact && END_OF(replays) > whole -> replays--
    :: else -> break
    od;
    lost = lost || whole < logged;
#ifndef TRACE
    do
    :: logged > whole -> logged--; rec_at[logged] = 0; entry_at[logged] = 0; parts_at[logged] = 0
    :: else -> break
    od;
#endif
    logged = whole; whole = 0; committed = intact; planned = intact; damaged = false
}

mtype = { DOWN, START, REPAIR, SETTLE, SETTLE_0, SETTLE_1, SETTLE_SPARK, SAVING, WRITING, BEGIN, RUN,
          IDLE, TASKS, NOTE, COMMIT_0, COMMIT_1, SPARK, OVER };

/* The batch of the last entry has ended, or none is there: another one is wanted. */
#define NEXT_ENTRY (ended || !submitted)

inline begin_turn() {
    if
    :: ended = false
    :: ended && !submitted                                     /* the driver had looked before */
    fi;
    submitted = true
}

proctype driver(bit me) {
    mtype pc = DOWN;
    bool want, anew;         /* the program; whether the next generation begins with an origin of its own */
    bool in_charge;          /* whether the query runs */
    bool submitted;          /* whether an entry waits for the end of a batch, which may be the one before */
    bool ended;              /* whether a batch has ended since the driver looked */
    bool told;               /* whether it has logged messages since then: what sources assign may follow at once */
    bool resumes;            /* whether the first batch was planned before */
    NUMBER shown;            /* assignments that Spark can see */
    NUMBER b;                /* the present batch */
    NUMBER mine, my_first;   /* the generation */
    byte rest;               /* parts that are still to be assigned */
    NUMBER from, to, loaded;
    NUMBER since, until, taken;  /* of an entry that is logged */

end: do
    /* ---------------------------------------------------------------- the start */
    :: atomic { pc == DOWN && STEP(TAKEN, 0, 0, 0) &&
            (holder == NOBODY || holder == me || (BOUND(takeovers < TAKEOVERS) && stops == 0)) ->
        if
        :: holder == 1 - me -> COUNT(takeovers)
        :: else
        fi;
        holder = me; want = program; pc = START;
        if
        :: true
        :: gen > 0 && BOUND(changes < CHANGES) -> want = !program; COUNT(changes)
        fi;
        DONE }
    :: atomic { pc == START && ALONE ->
        if
        :: finished -> pc = OVER
        :: !finished && gen == 0 -> pc = BEGIN
        :: !finished && gen > 0 && damaged -> pc = REPAIR
        :: !finished && gen > 0 && !damaged ->
            if
            :: planned > committed && END_OF(committed + 1) > logged -> planned = committed
            :: else
            fi;
            if
            :: want != program -> pc = SETTLE
            :: want == program && logged > 0 && !RESTORED(committed) && MUTANT != RESTORES_HALF ->
                pc = (MUTANT == RESTORES_AGAIN_UNSETTLED -> BEGIN : SETTLE)
            :: want == program && (logged == 0 || RESTORED(committed) || MUTANT == RESTORES_HALF) -> pc = RUN
            fi
        fi }
    :: atomic { pc == REPAIR && ALONE && STEP(REPAIRED, intact, 0, 0) ->
        roll_back(); pc = START; DONE }

    /* ---------------------------------------------------------------- another generation */
    :: atomic { pc == SETTLE && HIDDEN ->
        b = committed; pc = (note == b + 1 && MUTANT != NOTE_IGNORED -> SETTLE_0 : SAVING) }
    :: atomic { pc == SETTLE_0 && ALONE && HIDDEN -> commit_to(0, first + b, note_since, note_until); pc = SETTLE_1 }
    :: atomic { pc == SETTLE_1 && ALONE && HIDDEN -> commit_to(1, first + b, note_since, note_until); pc = SETTLE_SPARK }
    :: atomic { pc == SETTLE_SPARK && ALONE && STEP(SETTLED, first + b, 0, 0) ->
        committed = (committed == b -> b + 1 : committed); pc = SAVING; DONE }
    :: atomic { pc == SAVING && HIDDEN ->
        anew = false;
        if
        :: REFUSED -> FORGET; want = program; pc = START      /* the program as it was has to repeat batches before */
        :: !REFUSED && (committed == 0 || !RESTORED(committed)) -> pc = BEGIN
        :: !REFUSED && committed > 0 && RESTORED(committed) && want == program -> pc = RUN
        :: !REFUSED && committed > 0 && RESTORED(committed) && want != program ->
            anew = true; next_whole = false; pc = (MUTANT == GENERATION_BEFORE_ORIGIN -> BEGIN : WRITING)
        fi }
    :: atomic { pc == WRITING && ALONE && HIDDEN ->
        SNAPSHOT(n_rec, n_pos, n_pending, committed); next_whole = true; pc = BEGIN }
    :: atomic { pc == BEGIN && ALONE && STEP(BEGUN, gen + 1, first + committed, ANY_C) ->
#ifdef TRACE
        if
        :: doomed[me] == 0 && seen_c == 0 -> origin = false; o_rec = 0; o_pos = 0; o_pending = 0; anew = false
        :: doomed[me] == 0 && seen_c == 1 && (origin || anew)
        :: doomed[me] == 0 && seen_c == 1 && !(origin || anew) -> anew = true; next_whole = true  /* a savepoint */
        :: doomed[me] == 1
        fi;
#endif
        if
        :: gen == 0 && stopped -> n_rec = sp_rec; n_pos = sp_pos; n_pending = sp_pending; next_whole = true; anew = true
        :: else
        fi;
        begin_generation(first + committed); DONE }

    /* ---------------------------------------------------------------- batches */
    :: atomic { pc == RUN && ALONE && STEP(STARTED, gen, committed, logged) ->
        in_charge = true; mine = gen; my_first = first; b = committed; shown = logged;
        submitted = false; ended = false; resumes = planned > committed;
        rest = (MUTANT == RESTORES_HALF && logged > 0 -> 0 : ALL_PARTS - PARTS_UP_TO(logged));
        MUST(rest == 0 || origin_there);
        if
        :: MUTANT == ORIGIN_DELETED_AT_ONCE -> origin_there = false
        :: else
        fi;
        pc = IDLE; DONE }
    :: atomic { in_charge && ALONE && mine == gen &&
            (NEXT_ENTRY || told) && (rest > 0 || BOUND(RECORDS_UP_TO(logged) < RECORDS)) &&
            BOUND(logged < KEPT - 3) && STEP(ASSIGNED, logged, ANY_B, ANY_C) ->
        if
        :: told
        :: NEXT_ENTRY -> begin_turn()
        fi;
        told = false; log_entry(); DONE }
    :: atomic { in_charge && ALONE && mine == gen && NEXT_ENTRY && rest == 0 && BOUND(messages < MESSAGES) &&
            BOUND(logged < KEPT - 3) && STEP(ASSIGNED, logged, ANY_B, 0) ->
        COUNT(messages); begin_turn(); told = true; log_messages(); DONE }
    :: atomic { pc == IDLE && mine == gen && planned == b && shown > END_OF(b) && MAY_END(shown) && HIDDEN ->
        resumes = false;
        if
        :: b < replays && MUTANT != ROLLED_BACK_AS_ONE        /* Spark sees no more than it had */
        :: !(b < replays && MUTANT != ROLLED_BACK_AS_ONE) && END_GIVEN(shown) > END_OF(b) -> end_of[AT(b)] = END_GIVEN(shown)
        :: !(b < replays && MUTANT != ROLLED_BACK_AS_ONE) && shown > END_OF(b) + 1 && !TRACING -> end_of[AT(b)] = shown - 1
        fi;
        planned = b + 1; pc = TASKS }
    :: atomic { pc == IDLE && mine == gen && planned > b && resumes && HIDDEN ->
        resumes = false; pc = TASKS }
    :: atomic { pc == IDLE && (mine != gen || (planned > b && !resumes)) -> pc = DOWN; FORGET }  /* another driver's plan */
    :: atomic { pc == TASKS && (mine != gen || (holder != me && b < oldest)) -> pc = DOWN; FORGET }
    :: atomic { pc == TASKS && mine == gen && (holder == me || b >= oldest || MUTANT == LEASE_UNCHECKED) &&
            STEP(COMPUTED, my_first + b, ANY_B, ANY_C) && (ANY_B == 0 || end_of[AT(b)] == ANY_B || !HIDDEN) ->
        from = RECORDS_UP_TO(END_OF(b)); to = RECORDS_UP_TO(end_of[AT(b)]);
        if
        :: MUTANT == STATE_TWICE && copy > 0 -> loaded = copy
        :: MUTANT == TORN_COPY && torn -> loaded = 99
        :: else -> MUST(b >= oldest || (copy == state_of[AT(b)] && !torn)); loaded = state_of[AT(b)]
        fi;
        MUST(loaded == from);
        MUST(to == from || PARTS_UP_TO(end_of[AT(b)]) == ALL_PARTS);
        state_of[AT(b + 1)] = loaded + to - from; copy = loaded + to - from; torn = false;
        if
        :: MUTANT == FILES_DELETED_AT_ONCE -> oldest = b + 1
        :: MUTANT != FILES_DELETED_AT_ONCE && b >= oldest + RETAINED -> oldest = b + 1 - RETAINED
        :: else
        fi;
        FORGET_BEFORE(oldest);
        if
        :: MUTANT == SPARK_COMMITS_FIRST && committed == b -> committed = b + 1
        :: else
        fi;
        loaded = 0; REMEMBER_LASTING; pc = (MUTANT == SINKS_BEFORE_NOTE || !MY_LASTING -> COMMIT_0 : NOTE); DONE }
    :: atomic { pc == NOTE && ALONE && STEP(PREPARED, my_first + b, 0, 0) ->
        note = b + 1; note_since = from; note_until = to; pc = (MUTANT == SINKS_BEFORE_NOTE -> SPARK : COMMIT_0); DONE }
    :: atomic { pc == COMMIT_0 && ALONE && HIDDEN -> commit_to(0, my_first + b, from, to); pc = COMMIT_1 }
    :: atomic { pc == COMMIT_1 && ALONE && STEP(OUTPUT, my_first + b, 0, 0) ->
        commit_to(1, my_first + b, from, to); ended = true; told = false;
        logged = (MUTANT == SHOWN_BEFORE_LOGGED && shown > logged -> shown : logged);
        pc = (MUTANT == SINKS_BEFORE_NOTE -> NOTE : SPARK); DONE }
    :: atomic { pc == SPARK && HIDDEN ->
        if
        :: mine == gen && committed == b -> committed = b + 1
        :: else                                               /* another driver has committed it */
        fi;
        b++; from = 0; to = 0; pc = IDLE }

    /* ---------------------------------------------------------------- requests and the end */
    :: atomic { in_charge && mine == gen && ALONE && BOUND(savepoints < 1) && committed > 0 && RESTORED(committed) &&
            ((pc == IDLE && b == committed) || (pc == COMMIT_0 && MUTANT == SAVEPOINT_OF_UNCOMMITTED)) &&
            STEP(SAVED, my_first + committed - 1, 0, 0) ->
        COUNT(savepoints); loaded = (pc == COMMIT_0 -> committed + 1 : committed);
        SNAPSHOT(sp_rec, sp_pos, sp_pending, loaded); loaded = 0; sp_there = true; DONE }
    :: atomic { in_charge && pc == IDLE && mine == gen && ALONE && BOUND(stops < 1) && takeovers == 0 && committed > 0 &&
            RESTORED(committed) && ALL_COMMITTED && (undone <= committed || MUTANT == STOPS_WITH_WHAT_IS_ROLLED_BACK) && !TRACING ->
        SNAPSHOT(sp_rec, sp_pos, sp_pending, committed); MUST(ALL_OUT(sp_rec));
        /* another job goes on from it, in a directory of its own: its sinks know no batch */
        stops++; stopped = true; sp_there = false; holder = NOBODY; gen = 0; first = 0; program = false; origin = false;
        origin_there = false; known[0] = 0; known[1] = 0; FORGET; begin_files(); pc = DOWN }
    :: atomic { pc == START && ALONE && gen > 0 && !finished && !damaged && sp_there && BOUND(stops < 1) && takeovers == 0 &&
            !TRACING ->
        /* the user starts from an earlier savepoint, and takes the records after it out of the sinks */
        stops++; sp_there = false; out[0] = sp_rec; out[1] = sp_rec; want = program; anew = true;
        n_rec = sp_rec; n_pos = sp_pos; n_pending = sp_pending; next_whole = true;
        to = (planned > undone -> planned : undone);
        to = (MUTANT == SAVEPOINT_REUSES_IDS -> committed : (to > replays -> to : replays));
        begin_generation(first + to) }
    :: atomic { in_charge && pc == IDLE && mine == gen && ALL_COMMITTED && BOUND(changes < CHANGES) && HIDDEN ->
        COUNT(changes); FORGET; want = !program; pc = SETTLE }
    :: atomic { in_charge && pc == IDLE && mine == gen && ALONE && ALL_COMMITTED && rest == 0 &&
            (TRACING || RECORDS_UP_TO(logged) == RECORDS) && STEP(FINISHED, 0, 0, 0) ->
        MUST(state_of[AT(committed)] == RECORDS_UP_TO(logged) && ALL_OUT(RECORDS_UP_TO(logged)));
        finished = true; pc = OVER; FORGET; DONE }
    :: atomic { in_charge && origin_there && committed > 0 && RESTORED(committed) && mine == gen && ALONE && !TRACING ->
        origin_there = false }
    :: atomic { pc == OVER && holder == me -> holder = NOBODY }

    /* ---------------------------------------------------------------- crashes, damage, and drivers that are late */
    :: atomic { pc != DOWN && pc != OVER && MAY_FAIL && BOUND(crashes < CRASHES) ->
        COUNT(crashes); pc = DOWN; FORGET; CRASHED;
        if
        :: true
        :: !TRACING && copy > 0 -> torn = true
        fi }
    :: atomic { pc != DOWN && pc != OVER && pc != START && MAY_FAIL && BOUND(crashes < CRASHES) && HIDDEN ->
        COUNT(crashes); pc = START; FORGET }                       /* the job fails, and its process begins another attempt */
    :: atomic { pc != DOWN && pc != OVER && holder != me && MUTANT != LEASE_UNCHECKED && HIDDEN -> pc = DOWN; FORGET }
    :: atomic { pc == DOWN && holder != 1 - me && BOUND(damages < DAMAGES) && gen > 0 && !finished && !damaged && !TRACING &&
            committed > oldest && RESTORED(committed - 1) ->
        damages++; damaged = true;
        if
        :: intact = committed - 1
        :: committed > oldest + 1 && RESTORED(committed - 2) -> intact = committed - 2
        fi;
        whole = logged }
    :: atomic { pc == DOWN && holder != 1 - me && BOUND(losses < LOSSES) && gen > 0 && !finished && !damaged && !TRACING &&
            RESTORED(committed) && logged > 0 ->
        if
        :: intact = committed
        :: committed > oldest && RESTORED(committed - 1) -> intact = committed - 1
        fi;
        whole = (END_OF(intact) == 0 -> 0 : entry_at[AT(END_OF(intact) - 1)]);
        if
        :: whole < logged -> losses++; damaged = true
        :: else -> intact = 0; whole = 0
        fi }
#ifdef TRACE
    :: atomic { pc == OVER && holder != me && HIDDEN -> pc = DOWN }
    :: atomic { in_charge && mine == gen && ALONE && seen == SAVED && seen_a >= my_first && seen_a - my_first < committed &&
            RESTORED(seen_a - my_first + 1) && STEP(SAVED, seen_a, 0, 0) ->
        DONE }                                                 /* its files are written while batches go on */
    :: atomic { in_charge && mine == gen && ALONE && !origin && my_first == 0 && STEP(SAVED, -1, 0, 0) ->
        DONE }                                                 /* before the first batch: there is no state */
    :: atomic { pc == START && gen > 0 && !damaged && seen == REPAIRED && seen_a <= committed && HIDDEN ->
        damaged = true; intact = seen_a; whole = logged;
        if
        :: struck && next_logged < logged && next_logged >= END_OF(intact) -> whole = next_logged
        :: else
        fi;
        struck = false }
    :: atomic { pc == START && gen > 0 && !damaged && struck && seen == STARTED && seen_b == committed &&
            seen_c < logged && seen_c >= END_OF(committed) && HIDDEN ->
        intact = committed; whole = seen_c; struck = false; roll_back() }
    :: atomic { pc != DOWN && pc != OVER && doomed[me] == 0 && MAY_FAIL -> doomed[me] = 1 }
    :: atomic { pc != DOWN && pc != OVER && pc != START && doomed[me] == 2 && MAY_FAIL && failed != at ->
        failed = at; pc = START; FORGET; CRASHED }          /* the attempt fails in a step that it had no time to record */
#endif
    od
}

WATCH
