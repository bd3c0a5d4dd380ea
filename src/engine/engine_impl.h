/* engine/engine_impl.h — struct engine, and the functions that the files of this room share.
 * Runs in: keeper. */
#pragma once

#include "engine/engine.h"
#include "engine/pools/pools_link.h"
#include "runtime/version.h"

/* The runs of one key. */
struct key_line {
    char *key; /* "": runs without a key */
    struct run *first, *last;
    unsigned waiting, running;
    unsigned bounded; /* waiting runs that count against the limit */
    struct key_line *next;
};

struct queue {
    struct key_line *lines;             /* the first one has the next turn */
    unsigned waiting, bounded, running; /* the sums over all lines */
    uint64_t memory, pids;              /* promised to the running ones */
    /* bursts */
    uint64_t full_ms;        /* the last time that a run took the last place, or found none */
    uint64_t burst_until_ms; /* the queue may be long until then */
    double mean_ms;          /* of the recent runs; 0: unknown */
};

enum { SLOTS = 1024, STARTING_MAX = 16 };

struct engine {
    uv_loop_t *loop;
    struct store *store;
    int dir_fd;
    struct engine_limits limits;
    struct queue queue;
    struct run *alive;
    struct programs *programs;
    struct run *first_resumable, *last_resumable; /* have a turn, and can go on with their stages */
    bool starting_runs;                           /* engine_start_runs() is running */
    /* the warden */
    int wire_fd;
    uv_poll_t *wire_poll;
    struct isolation isolation;
    /* the porter */
    struct porter_client porter;
    uint32_t porter_number; /* of its socket */
    uv_poll_t *porter_poll;
    uv_timer_t *porter_timer; /* for its last words about jars that ended, and for its return */
    uint64_t porter_gone_ms;  /* clock_ms(), if there is none */
    engine_on_porter_lost *on_porter_lost;
    void *porter_context;
    /* jars, by the low bits of their id on the wire: of a run, or of something else, or free */
    struct slot {
        struct run *run;
        struct engine_jar *jar;
    } slots[SLOTS];
    uint64_t next_serial;
    unsigned starting;            /* runs on their way into a jar */
    struct wire_message *message; /* one at a time; too large for the stack */
    /* the tick of the paused pipes */
    uv_timer_t pace;
    bool pacing;
    bool draining;
    void (*on_idle)(void *context);
    void *idle_context;
    struct engine_counts counts;
    struct pools_policy pools;
    struct pools_link link;
    unsigned open_timers;
    struct examinations examinations;
    char versions[LANGUAGES_MAX][VERSION_SIZE]; /* in the order of languages[] */
    bool version_pending[LANGUAGES_MAX];
};

/* engine.c */
/* Starts every run that may start. */
void engine_start_runs(struct engine *engine);
void engine_check_idle(struct engine *engine);
/* A place for a jar, and its id on the wire. It stays free until the caller fills it. */
[[nodiscard]] int engine_free_slot(struct engine *engine, struct slot **ret, uint64_t *ret_id,
                                   struct err *e);

/* porter_link.c */
void porter_link_open(struct engine *engine);
void porter_link_close(struct engine *engine);
/* A jar has ended, or a message was sent: the porter has a while for its part. */
void porter_link_await(struct engine *engine);
/* The jar with this id; NULL: it is gone. */
const struct slot *engine_slot_of(const struct engine *engine, uint64_t id);
/* Something happened to the jar. */
void engine_tell_slot(struct engine *engine, const struct slot *slot);

/* admission.c: whether a run may come in, and when it runs */
[[nodiscard]] int admission_check(struct engine *engine, const struct run_spec *spec,
                                  unsigned flags, struct err *e);
uint64_t run_spec_bytes(const struct run_spec *s);
bool queue_has_room(struct engine *engine, const char *key, uint32_t key_max_runs, uint64_t now_ms);
[[nodiscard]] int queue_push(struct engine *engine, struct run *run, struct err *e);
/* The next run that may run, or NULL. It counts as running. */
struct run *queue_pop(struct engine *engine);
/* A run that waits, and cannot begin without a porter; NULL: there is none. */
struct run *queue_find_networked(const struct engine *engine);
/* The run waits or runs no longer. */
void queue_remove(struct engine *engine, struct run *run);
void queue_note_duration(struct engine *engine, double ms);
/* The expected wait of the last run in the queue. */
uint64_t queue_wait_ms(const struct engine *engine);

/* run.c */
/* Takes over the spec, also on failure. */
[[nodiscard]] int run_new(struct engine *engine, struct run_spec *spec, unsigned flags,
                          const char *id, struct run **ret, struct err *e);
void run_enqueue(struct run *run);
void run_begin(struct run *run);  /* its turn has come */
void run_resume(struct run *run); /* it was resumable */
void run_on_wire_message(struct run *run);
void run_on_warden_lost(struct run *run);
/* It waited in vain. */
void run_fail_waiting(struct run *run, const char *why);
/* An end without a record. */
void run_abandon(struct run *run, const struct err *why);

/* The request for the jar of the program. stage_request() makes that of another stage from it. */
/* The connections of the program, once it is over. */
void run_add_network(struct run *run, struct result *result);
struct jar_request run_jar_request(const struct run *run);

/* run_stages.c: the stages before the program. No function here ends or starts the run; run.c
 * does. */
enum stages_step {
    STAGES_WAIT,      /* another run compiles the program, or the disk is searched */
    STAGES_ENTER_JAR, /* the current stage, or the program, needs a jar */
    STAGES_REFUSED,   /* the compiler failed; its output is in the journal */
    STAGES_ERROR,     /* *e says why */
};
/* The files that a compiler of the run sees. */
const struct buf *run_stages_files(const struct run *run);
/* The files for the jar of the current stage; -1: those of run->program. */
[[nodiscard]] int run_stages_bundle(const struct run *run, int *ret_fd, struct err *e);
/* Goes on to the next stage whose product is not available yet. */
enum stages_step run_stages_advance(struct run *run, struct err *e);
/* Takes the result of a stage whose jar is gone. STAGES_WAIT: the handles of that jar have to close
 * before the next stage. */
enum stages_step run_stages_take_result(struct run *run, struct stage_result *result,
                                        const struct buf *products, struct err *e);
/* The run is over: nothing waits for it any longer. */
void run_stages_cancel(struct run *run);
void run_stages_set_resumable(struct run *run);

/* run_sequence.c: the stages of a caller */
bool run_sequence_is_last(const struct run *run); /* true also for a run without such stages */
/* Makes the request for the program of the current stage. */
void run_sequence_request(const struct run *run, struct jar_request *q);
/* The file of the current stage. */
[[nodiscard]] int run_sequence_bundle(const struct run *run, struct buf *ret, struct err *e);
/* Keeps the begin of its output, for its result. */
[[nodiscard]] int run_sequence_show(struct run *run, enum run_stream stream, const char *bytes,
                                    size_t n, struct err *e);
/* The current stage is over. True: the next one begins once the handles of its pipes are closed.
 * False: the run is over, with this verdict. */
bool run_sequence_goes_on(struct run *run, enum verdict *verdict);
/* No other stage follows: the jar that rests ends. */
void run_sequence_end_jar(struct run *run);
/* All stages, for the result; also stages that did not begin. */
json_t *run_sequence_json(const struct run *run);

/* run.c, for the files of this room */
void run_notify(struct run *run, enum run_event event);
void run_count_start(struct run *run);
void run_take_measure(struct run *run);                 /* run_host.c: its jar was measured */
void run_finish(struct run *run, enum verdict verdict); /* afterwards it may be freed */
void run_fail(struct run *run, const struct err *e);

/* Removes and returns the first resumable run, or NULL. */
struct run *run_stages_pop_resumable(struct engine *engine);
static inline enum stage run_stage(const struct run *run)
{
    return run->stages.n > 0 ? run->stages.at[run->stage] : STAGE_RUN;
}

/* run_record.c: the result of a run, and its rows in the history and the audit log. on_written() is
 * called on the loop, also from inside run_record_finished() if memory ran out. */
/* The result without its findings. */
void run_make_result(struct run *run, enum verdict verdict);
/* Has the output of a failed run read, or a report. on_found() follows, also from inside; the result
 * is complete then. */
void run_find(struct run *run, void (*on_found)(struct run *run));
typedef void run_record_written(struct run *run, const struct err *e);
[[nodiscard]] int run_record_accepted(struct run *run, run_record_written *on_written,
                                      struct err *e);
void run_record_finished(struct run *run, run_record_written *on_written);
