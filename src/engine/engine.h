/* engine/engine.h — the service's runs: admission, the fair queue, running them over one wire, and their history.
 * Runs in: keeper, on its libuv loop.
 *
 * Invariants
 * R1 At most `max` runs hold a jar, at most `queue` wait for one (those of a batch aside, which bounds itself), and `burst`
 *    more that come at once to a service that was not busy; at most `held` for an approval; at most `max_per_key` of one key run, and all programs together are at most `bytes` large. Whoever waits
 *    is served in turn by key, not by arrival.
 * R2 A run is finished for its watchers only after its record is in the history.
 * R3 A run ends exactly once: RUN_EVENT_DONE is the last news of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/id.h"
#include "engine/pools/pools.h"
#include "run/jar_run.h"
#include "run/journal.h"
#include "run/result.h"
#include "store/run_rows.h"
#include "store/store.h"

/* What to run, and for whom. Owns everything; run_spec_done() frees. */
struct run_spec {
    const struct language *language;
    char *main_name;        /* of the main file, which is in the bundle */
    struct buf bundle;      /* spec/bundle.h */
    struct buf stdin_bytes; /* what the program reads first */
    bool stdin_open;        /* more may follow by run_stdin(); else stdin ends there */
    char **args, **env,
        **outputs; /* NULL-terminated, or NULL; outputs may hold ".": every file in /sandbox */
    struct limits limits;
    bool writable_root;
    struct run_options options;
    bool files_elsewhere; /* whoever watches keeps the outputs: the history does not */
    /* for the history and the queue */
    char *key;                       /* whose turn it counts for; NULL: nobody's in particular */
    char *actor;                     /* for the audit log */
    char *thread, *artifact, *batch; /* NULL where none */
    char *surface;                   /* "v1", "nemo", "artifacts" */
    char *request;    /* canonical JSON, enough to make this spec again (api/runs/run_fields.h) */
    char *code;       /* the main file's text; NULL when it is not text */
    json_t *metadata; /* the caller's own, given back in the result; NULL: none */
    json_t *taken;    /* for the result: what of the text ran, and how its language was told;
                         NULL: all, as given */
    uint32_t key_max_runs; /* 0: the setting */
    bool may_approve;      /* whoever asked could decide on it as well */
};
void run_spec_done(struct run_spec *s);

enum run_event {
    RUN_EVENT_RECORDED, /* its row is in the history (or could not be written: x->record_err) */
    RUN_EVENT_STARTED,  /* the program runs */
    RUN_EVENT_OUTPUT,   /* the journal has grown */
    RUN_EVENT_DONE,     /* over, and recorded: x->result, x->journal and x->files are final */
};

struct run;
struct run_watch {
    void (*news)(struct run_watch *w, struct run *x, enum run_event what);
    struct run_watch *next; /* the runner's */
};

struct engine;

/* One run. Read-only for others. Lives until it is done and nobody watches it. */
struct run {
    char id[ID_SIZE];
    enum run_state state;
    struct run_spec spec;
    struct journal journal;
    struct buf files;      /* bundle of outputs */
    struct result result;  /* once done */
    json_t *result_json;   /* once done: every field but stdout and stderr */
    struct err record_err; /* why the history does not have it; ERR_NONE when it does */
    struct engine *runner;
    int64_t queued_at_ms, started_at_ms, finished_at_ms; /* Unix time; 0: not yet */
};

struct engine_limits {
    unsigned max, queue, max_per_key;
    unsigned burst; /* of a line that soon gets short again, see queue.c */
    unsigned held;  /* runs that wait for run_release() */
    uint64_t bytes; /* of the programs of all runs, until each is over */
};

/* Outputs spill into dir_fd (the store's output directory). */
[[nodiscard]] int engine_new(struct engine **ret, uv_loop_t *loop, struct store *store, int dir_fd,
                             const struct engine_limits *limits, struct err *e);
/* When nothing runs any more; the loop has to turn once more for it. */
void engine_free(struct engine *r);
void engine_set_limits(struct engine *r, const struct engine_limits *limits);
/* A directory for compiled programs, taken over; without one they are kept in memory alone. See engine/programs.h. */
void engine_keep_programs(struct engine *r, int dir_fd, uint64_t max_bytes);
void engine_set_programs_max(struct engine *r, uint64_t max_bytes);

/* A warden to run on; taken over. Runs of the former one, if it is gone, end as internal_error. */
[[nodiscard]] int engine_set_wire(struct engine *r, int fd, const struct isolation *isolation,
                                  struct err *e);
/* No new runs; idle() when the last is done. */
void engine_drain(struct engine *r, void (*idle)(void *context), void *context);
/* Ends every run, as if each had been cancelled. */
void engine_cancel_all(struct engine *r);
const struct isolation *engine_isolation(
    const struct engine *r); /* NULL while there is no warden */
/* The version of an installed language as found at start; NULL when it is not installed. */
void engine_set_version(struct engine *r, const struct language *l, const char *version);
const char *engine_version(const struct engine *r, const struct language *l);
/* Its program is there, and has not answered yet. */
void engine_version_awaited(struct engine *r, const struct language *l, bool awaited);
/* Whether it is installed as far as we know: it has answered, or may yet. */
bool engine_may_run(const struct engine *r, const struct language *l);

enum {
    SUBMIT_PATIENT = 1, /* of a batch: waits in the queue whatever its length */
    SUBMIT_HELD = 2,    /* waits for run_release() or run_reject() */
    SUBMIT_STORED = 4,  /* the history has it already (it waited for approval before a restart) */
};
/* Takes the spec over, also on failure. ERR_BUSY when the queue is full (engine_retry_after_s() says how long to wait).
 * id NULL: a new one. The watch, if any, hears everything from now on; never from inside this call. */
[[nodiscard]] int engine_submit(struct engine *r, struct run_spec *spec, unsigned flags,
                                const char *id, struct run_watch *w, struct run **ret,
                                struct err *e);
unsigned engine_retry_after_s(const struct engine *r);
/* For explaining errors, on the loop's thread. */
struct diagnoser *engine_diagnoser(struct engine *r);
struct run *engine_find(struct engine *r, const char *id); /* alive, or NULL */

void run_watch_add(struct run *x, struct run_watch *w);
/* After this the exec may be gone. Allowed inside news(). */
void run_watch_remove(struct run *x, struct run_watch *w);

/* A held run goes on: into the queue. With an edited spec (taken over), that is what runs. */
void run_release(struct run *x, struct run_spec *edited);
/* A held run ends as `rejected`, with the reason as its error. */
void run_reject(struct run *x, const char *reason);
void run_cancel(struct run *x); /* at any time before its end */
/* More for its stdin. ERR_CONFLICT when stdin is closed, ERR_BUSY when the program has not read what came before. */
[[nodiscard]] int run_stdin(struct run *x, const void *bytes, size_t n, bool eof, struct err *e);

/* What waits for work, by kind. */
struct engine_pools {
    size_t n;
    struct {
        const char *name;
        unsigned target;
        struct pool_state state; /* as the warden last told */
    } kinds[ZYGOTE_KINDS_MAX];
    uint64_t starts[ZYGOTE_KINDS_MAX + 1][START_COUNT_]; /* by kind; 0: programs that fit none */
    bool short_of_memory;
};
struct engine_pools engine_pools(const struct engine *r);
/* Somebody looks at them: they are told anew, now and for a while. */
void engine_pools_look(struct engine *r);
void engine_set_pools(struct engine *r, const struct pools_settings *s);

struct engine_counts {
    unsigned running, queued, held;
    uint64_t accepted, refused, finished[VERDICT_COUNT_];
    uint64_t warden_losses;
    uint64_t compiled, compiles_failed,
        compiles_spared; /* what a compiler made; and did not have to */
};
struct engine_counts engine_counts(const struct engine *r);
