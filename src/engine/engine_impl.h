/* engine/engine_impl.h — what runner.c, queue.c, exec.c and history.c share. Runs in: keeper. */
#pragma once

#include "diagnose/core/diagnose.h"
#include "engine/engine.h"
#include "engine/pools/pools.h"
#include "engine/programs.h"
#include "run/stages.h"
#include "runtime/version.h"

/* The runs of one key: those that wait, first come first served, and how many run. */
struct turn {
    char *key; /* "" for nobody's */
    struct live *first, *last;
    unsigned waiting, running;
    unsigned bounded; /* of those that wait: not of a batch */
    struct turn *next;
};

struct queue {
    struct turn *turns; /* in the order of their next turn */
    unsigned waiting;   /* of all turns */
    unsigned bounded;   /* of these, those that count against the bound (not of a batch) */
    unsigned running;
    /* bursts */
    uint64_t full_ms;        /* when a run last came that was one too many, or the last with room */
    uint64_t burst_until_ms; /* the line may be long until then */
    double mean_ms;          /* how long runs take, of late; 0: not known */
};

/* What a run watches: its pipes. */
enum { PIPE_STDOUT, PIPE_STDERR, PIPE_OUTPUTS, PIPE_STDIN, PIPES };

struct live {
    struct run x;
    struct live *next_waiting; /* in its turn */
    struct live *next_alive, *prev_alive;
    struct turn *turn; /* while it waits or runs */
    uint64_t bytes;    /* of its spec, when it was accepted */
    bool patient, held, over, in_jar, starting, told_done;
    bool recorded;       /* the history has it: it may begin */
    unsigned open_polls; /* libuv handles not yet closed */
    unsigned notifying;  /* depth of news() */
    unsigned jobs;       /* store jobs in flight */
    unsigned slot;
    unsigned kind;           /* of an embryo that fits it; 0: none */
    struct samples *samples; /* of a run that is over and was profiled; else NULL */
    struct jar_run run;      /* of the stage at hand */
    /* stages: what comes before the program, and the program */
    struct stages stages;
    size_t stage;
    struct program_wait wait;   /* for what a stage makes, which it may be us to make */
    enum program_answer answer; /* to the stage at hand */
    struct program *program;    /* of the last stage before this one; NULL: none */
    bool program_cached;
    struct buf said[RUN_STREAMS]; /* by what is not the program itself */
    bool ready;                   /* in the line of those who go on */
    bool closing;                 /* goes on once the last jar's handles are closed */
    struct live *next_ready;
    uv_poll_t polls[PIPES];
    bool polling[PIPES];
    bool gathers[2], ripe[2]; /* stdout, stderr: not read until the next tick; to be read now */
    struct buf stdin_bytes;   /* not yet taken by the program */
    size_t stdin_from;
    bool stdin_eof;
    uint64_t pushed_us, waited_us; /* into the line, by the clock; how long it was there */
    uint64_t begun_us, started_us; /* on its way into a jar; there */
    char error_text[sizeof((struct err *)0)->text];
    struct run_watch *watches;
};

enum { SLOTS = 1024, STARTING_MAX = 16, RETRY_AFTER_MAX_S = 300 };
enum {
    SOURCES_KEPT_MAX = 1 << 20
}; /* the files of a run, until its end: for what is said about it */
enum { STDIN_WAITING_MAX = 1 << 20 }; /* bytes a program has not read; more are refused */
/* What was printed is read this much later, unless the last read brought as much as this; after many records, later still. */
enum { PACED_BYTES = 4096, PACE_MS = 1, PACED_RECORDS = 4096, SLOW_PACE_MS = 10 };

struct engine {
    uv_loop_t *loop;
    struct store *store;
    int dir_fd;
    struct engine_limits limits;
    struct queue queue;
    struct live *alive;
    struct programs *programs;
    struct live *first_ready,
        *last_ready; /* have had a turn already, and go on with their next stage */
    /* the warden */
    int wire_fd;
    uv_poll_t *wire_poll;
    struct isolation isolation;
    struct live *slots[SLOTS]; /* runs that have a jar, by the low bits of their id on the wire */
    uint64_t next_serial;
    unsigned starting;
    uv_timer_t pace;
    bool pacing;
    struct wire_message *message; /* one at a time; too large for the stack */
    bool draining;
    void (*idle)(void *context);
    void *idle_context;
    struct engine_counts counts;
    struct pools_policy pools;
    struct {
        uv_timer_t timer;
        uint64_t due_ms; /* the next round */
        struct pool_targets targets, sent;
        bool asked, known; /* an answer is on its way; there has been one, `state` */
        uint64_t known_ms;
        struct pool_state state[ZYGOTE_KINDS_MAX];
        struct pools_memory memory;
        uint64_t memory_ms, watched_until_ms;
    } link; /* pools_link.c's */
    unsigned open_timers;
    struct diagnoser *diagnoser;
    char versions[LANGUAGES_MAX][VERSION_SIZE]; /* in the order of languages[] */
    bool awaited[LANGUAGES_MAX];
};

/* queue.c */
bool queue_has_room(struct engine *r, const char *key, uint32_t key_max_runs, uint64_t now_ms);
[[nodiscard]] int queue_push(struct engine *r, struct live *l, struct err *e);
struct live *queue_pop(struct engine *r); /* the next that may run, or NULL; it counts as running */
void queue_leave(struct engine *r, struct live *l); /* waits or runs no more */
void queue_note_time(struct engine *r, double ms);  /* that a run took */
uint64_t queue_wait_ms(const struct engine *r); /* that the last in line has before it, by that */

/* exec.c */
void run_choose_kind(struct live *l); /* before it waits for its turn */
void run_start(struct live *l);       /* its stage into a jar; a failure is its end */
void run_finish(struct live *l, enum verdict verdict); /* the end: decides, records, tells */
void run_leave_jar(struct live *l);                    /* of a stage; the jar is gone */
struct jar_request run_request(const struct live *l);  /* of the run; see stage_request() */
void run_after_message(struct live *l);                /* the wire spoke of it */
void run_lost(struct live *l);                         /* its warden is gone */
/* The end of one that has no jar: cancelled, rejected or failed. */
void run_finish_early(struct live *l, enum verdict verdict, const char *why);
void run_abandon(struct live *l, const struct err *why); /* an end without a record */
void run_tell(struct live *l, enum run_event what);
void run_free_if_unused(struct live *l);

/* prepare.c: the stages before the program */
void run_stages_begin(struct live *l);    /* it is its turn */
void run_stages_over(struct live *l);     /* a stage's jar is gone */
void run_stages_closed(struct live *l);   /* and so are the handles of its pipes */
void run_stages_drop(struct live *l);     /* it is over: nobody waits */
bool run_stages_resume(struct engine *r); /* the next of those who go on, if there is one */
static inline enum stage_kind stage_now(const struct live *l)
{
    return l->stages.n > 0 ? l->stages.at[l->stage] : STAGE_RUN;
}

/* history.c: the records of a run */
[[nodiscard]] int run_record_accept(struct live *l, struct err *e); /* calls run_accepted() */
void run_accepted(struct live *l, const struct err *e);
void run_record_finish(struct live *l); /* calls run_recorded() */
void run_recorded(struct live *l, const struct err *e);

/* pools_link.c: targets out, states in */
void pools_link_init(struct engine *r);
void pools_link_begin(struct engine *r); /* there is a wire */
void pools_link_lost(struct engine *r);  /* there is none any more */
void pools_link_asked_for(struct engine *r, unsigned kind);
[[nodiscard]] int pools_link_message(struct engine *r, const struct wire_message *m, struct err *e);

/* runner.c */
void engine_pump(struct engine *r); /* starts what may start */
void engine_check_idle(struct engine *r);
