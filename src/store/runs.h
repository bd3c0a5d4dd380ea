/* store/runs.h — the history of runs. Runs in: a thread of the store's, or a command. */
#pragma once

#include "store/db.h"

/* State of a run, as the database and every surface word it. A run is "interrupted" when the service died under it. */
#define RUN_STATE_TABLE(X)          \
    X(RUN_WAITING,     "waiting")     /* for an approval */ \
    X(RUN_QUEUED,      "queued")      \
    X(RUN_RUNNING,     "running")     \
    X(RUN_FINISHED,    "finished")    \
    X(RUN_INTERRUPTED, "interrupted")
enum run_state {
#define X(id, word) id,
    RUN_STATE_TABLE(X)
#undef X
        RUN_STATE_COUNT_
};
const char *run_state_word(enum run_state s);
/* An unknown word is refused, naming those there are. */
[[nodiscard]] int run_state_parse(const char *word, enum run_state *ret, struct err *e);

/* Texts are NULL where there is none. Of a row that was read, all are the row's own (run_row_done frees). */
struct run_row {
    int64_t seq; /* order of acceptance; the cursor of lists */
    enum run_state state;
    char *id, *language, *verdict;
    char *key;      /* name of the API key, NULL for nobody's */
    char *thread;   /* thread_id: the session */
    char *artifact; /* artifact id */
    char *batch;    /* batch id */
    char *surface;  /* "v1", "nemo", "artifacts", ... */
    char *request;  /* canonical JSON of the request, enough to run it again */
    char *
        result; /* JSON of the result without stdout, stderr and the journal; NULL until finished */
    char *code; /* the main file's text, for q= and for showing; may be NULL */
    int64_t created_ms, started_ms, finished_ms; /* Unix time; 0 where not */
    int64_t wall_us, cpu_us, memory_peak;
    /* The journal of output (engine/journal.h): here when small, else in output/ID. */
    struct buf journal;
    bool journal_in_file;
    struct buf files; /* bundle of output files (spec/bundle.h) */
};
void run_row_done(struct run_row *r);

/* Uses id, state, language, key, thread, artifact, batch, surface, request, code, created_ms. */
[[nodiscard]] int runs_insert(struct db *db, const struct run_row *r, struct err *e);
/* State becomes finished; ERR_CONFLICT when it is that already. Uses id, verdict, result, started_ms, finished_ms, wall_us,
 * cpu_us, memory_peak, journal, journal_in_file, files; and request and code where not NULL (an approver edited them). */
[[nodiscard]] int runs_finish(struct db *db, const struct run_row *r, struct err *e);

enum { RUN_WITHOUT_BLOBS = 0, RUN_WITH_JOURNAL = 1, RUN_WITH_FILES = 2 };
[[nodiscard]] int runs_get(struct db *db, const char *id, unsigned with, struct run_row *ret,
                           struct err *e);

struct run_query {
    const char *language, *verdict, *key, *thread, *artifact, *batch, *state; /* NULL: any */
    const char *q;              /* text in the code; NULL: any */
    int64_t since_ms, until_ms; /* created; 0: open */
    int64_t before_seq;         /* the cursor: rows older than this; 0: from the newest */
    unsigned limit;             /* 1..1000 */
};
struct run_rows {
    struct run_row *rows; /* newest first; request, result, code and the blobs are left out */
    size_t n;
    int64_t next_before_seq; /* cursor of the next page; 0 at the end */
};
void run_rows_done(struct run_rows *r);
/* Newest is what was accepted last; where since_ms or until_ms are all that narrows it down (but for key, verdict and
 * language), what has the latest created_ms, which differs only if the clock was set back. Each filter walks an index, q looks
 * at the code of every run that the others leave. */
[[nodiscard]] int runs_list(struct db *db, const struct run_query *q, struct run_rows *ret,
                            struct err *e);

/* At start: what was queued or running when the service died is interrupted. Returns how many. Waiting ones wait on. */
[[nodiscard]] int runs_interrupt_unfinished(struct db *db, int64_t now_ms, int64_t *ret_n,
                                            struct err *e);

/* Counts for /v1/stats: one row for each (language, verdict) of finished runs. since_ms 0: all there ever were, those that
 * retention removed among them, from totals that are kept; else those created since, counted now. */
struct run_stat {
    char language[32], verdict[32];
    int64_t n, wall_us_sum, wall_us_max, cpu_us_sum, memory_peak_max;
};
[[nodiscard]] int runs_stats(struct db *db, int64_t since_ms, struct run_stat **ret, size_t *ret_n,
                             struct err *e);

/* Removes finished runs older than max_age_ms, then the oldest until history takes at most max_bytes; their files too; up to
 * `batch` runs a call, so that nobody waits long. *ret_more: call again, in another transaction: files go one call after the
 * rows they belong to. An interrupted run is over like a finished one. max_age_ms 0, max_bytes 0: no such bound. Approvals,
 * artifacts and the audit log are not touched. */
[[nodiscard]] int runs_retain(struct db *db, int64_t now_ms, int64_t max_age_ms, int64_t max_bytes,
                              unsigned batch, bool *ret_more, int64_t *ret_removed, struct err *e);
