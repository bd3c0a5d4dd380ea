/* engine/runner.h — the service's runs: admission, the fair queue, running them over one wire, and their history.
 * Runs in: keeper, on its libuv loop.
 *
 * Invariants
 * R1 At most `max` runs hold a jar, at most `queue` wait for one (those of a batch aside, which bounds itself), and `burst`
 *    more that come at once to a service that was not busy; at most `held` for an approval; at most `max_per_key` of one key run, and all programs together are at most `bytes` large. Whoever waits
 *    is served in turn by key, not by arrival.
 * R2 A run is finished for its watchers only after its record is in the history.
 * R3 A run ends exactly once: EXEC_DONE is the last news of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/id.h"
#include "engine/journal.h"
#include "engine/pools.h"
#include "engine/result.h"
#include "engine/run.h"
#include "store/run_rows.h"
#include "store/store.h"

/* What to run, and for whom. Owns everything; exec_spec_done() frees. */
struct exec_spec {
    const struct language *language;
    char *main_name;        /* of the main file, which is in the bundle */
    struct buf bundle;      /* spec/bundle.h */
    struct buf stdin_bytes; /* what the program reads first */
    bool stdin_open;        /* more may follow by exec_stdin(); else stdin ends there */
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
    char *request;         /* canonical JSON, enough to make this spec again (api/run_request.h) */
    char *code;            /* the main file's text; NULL when it is not text */
    json_t *metadata;      /* the caller's own, given back in the result; NULL: none */
    json_t *taken;         /* for the result: what of the text ran, and how its language was told;
                         NULL: all, as given */
    uint32_t key_max_runs; /* 0: the setting */
    bool may_approve;      /* whoever asked could decide on it as well */
};
void exec_spec_done(struct exec_spec *s);

enum exec_news {
    EXEC_RECORDED, /* its row is in the history (or could not be written: x->record_err) */
    EXEC_STARTED,  /* the program runs */
    EXEC_OUTPUT,   /* the journal has grown */
    EXEC_DONE,     /* over, and recorded: x->result, x->journal and x->files are final */
};

struct exec;
struct exec_watch {
    void (*news)(struct exec_watch *w, struct exec *x, enum exec_news what);
    struct exec_watch *next; /* the runner's */
};

struct runner;

/* One run. Read-only for others. Lives until it is done and nobody watches it. */
struct exec {
    char id[ID_SIZE];
    enum run_state state;
    struct exec_spec spec;
    struct journal journal;
    struct buf files;      /* bundle of outputs */
    struct result result;  /* once done */
    json_t *result_json;   /* once done: every field but stdout and stderr */
    struct err record_err; /* why the history does not have it; ERR_NONE when it does */
    struct runner *runner;
    int64_t queued_at_ms, started_at_ms, finished_at_ms; /* Unix time; 0: not yet */
};

struct runner_limits {
    unsigned max, queue, max_per_key;
    unsigned burst; /* of a line that soon gets short again, see queue.c */
    unsigned held;  /* runs that wait for exec_release() */
    uint64_t bytes; /* of the programs of all runs, until each is over */
};

/* Outputs spill into dir_fd (the store's output directory). */
[[nodiscard]] int runner_new(struct runner **ret, uv_loop_t *loop, struct store *store, int dir_fd,
                             const struct runner_limits *limits, struct err *e);
/* When nothing runs any more; the loop has to turn once more for it. */
void runner_free(struct runner *r);
void runner_set_limits(struct runner *r, const struct runner_limits *limits);
/* A directory for compiled programs, taken over; without one they are kept in memory alone. See engine/programs.h. */
void runner_keep_programs(struct runner *r, int dir_fd, uint64_t max_bytes);
void runner_set_programs_max(struct runner *r, uint64_t max_bytes);

/* A warden to run on; taken over. Runs of the former one, if it is gone, end as internal_error. */
[[nodiscard]] int runner_set_wire(struct runner *r, int fd, const struct isolation *isolation,
                                  struct err *e);
/* No new runs; idle() when the last is done. */
void runner_drain(struct runner *r, void (*idle)(void *context), void *context);
/* Ends every run, as if each had been cancelled. */
void runner_cancel_all(struct runner *r);
const struct isolation *runner_isolation(
    const struct runner *r); /* NULL while there is no warden */
/* The version of an installed language as found at start; NULL when it is not installed. */
void runner_set_version(struct runner *r, const struct language *l, const char *version);
const char *runner_version(const struct runner *r, const struct language *l);
/* Its program is there, and has not answered yet. */
void runner_version_awaited(struct runner *r, const struct language *l, bool awaited);
/* Whether it is installed as far as we know: it has answered, or may yet. */
bool runner_may_run(const struct runner *r, const struct language *l);

enum {
    SUBMIT_PATIENT = 1, /* of a batch: waits in the queue whatever its length */
    SUBMIT_HELD = 2,    /* waits for exec_release() or exec_reject() */
    SUBMIT_STORED = 4,  /* the history has it already (it waited for approval before a restart) */
};
/* Takes the spec over, also on failure. ERR_BUSY when the queue is full (runner_retry_after_s() says how long to wait).
 * id NULL: a new one. The watch, if any, hears everything from now on; never from inside this call. */
[[nodiscard]] int runner_submit(struct runner *r, struct exec_spec *spec, unsigned flags,
                                const char *id, struct exec_watch *w, struct exec **ret,
                                struct err *e);
unsigned runner_retry_after_s(const struct runner *r);
/* For explaining errors, on the loop's thread. */
struct diagnoser *runner_diagnoser(struct runner *r);
struct exec *runner_find(struct runner *r, const char *id); /* alive, or NULL */

void exec_watch_add(struct exec *x, struct exec_watch *w);
/* After this the exec may be gone. Allowed inside news(). */
void exec_watch_remove(struct exec *x, struct exec_watch *w);

/* A held run goes on: into the queue. With an edited spec (taken over), that is what runs. */
void exec_release(struct exec *x, struct exec_spec *edited);
/* A held run ends as `rejected`, with the reason as its error. */
void exec_reject(struct exec *x, const char *reason);
void exec_cancel(struct exec *x); /* at any time before its end */
/* More for its stdin. ERR_CONFLICT when stdin is closed, ERR_BUSY when the program has not read what came before. */
[[nodiscard]] int exec_stdin(struct exec *x, const void *bytes, size_t n, bool eof, struct err *e);

/* What waits for work, by kind. */
struct runner_pools {
    size_t n;
    struct {
        const char *name;
        unsigned target;
        struct pool_state state; /* as the warden last told */
    } kinds[ZYGOTE_KINDS_MAX];
    uint64_t starts[ZYGOTE_KINDS_MAX + 1][START_COUNT_]; /* by kind; 0: programs that fit none */
    bool short_of_memory;
};
struct runner_pools runner_pools(const struct runner *r);
/* Somebody looks at them: they are told anew, now and for a while. */
void runner_pools_look(struct runner *r);
void runner_set_pools(struct runner *r, const struct pools_settings *s);

struct runner_counts {
    unsigned running, queued, held;
    uint64_t accepted, refused, finished[VERDICT_COUNT_];
    uint64_t warden_losses;
    uint64_t compiled, compiles_failed,
        compiles_spared; /* what a compiler made; and did not have to */
};
struct runner_counts runner_counts(const struct runner *r);
