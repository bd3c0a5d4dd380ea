/* store/run_rows.h — the history of runs. Runs in: a store thread, or a command. */
#pragma once

#include "store/db.h"

/* The state of a run, in the words of the database and of every surface. A run is "interrupted" if
 * the service died while it ran. */
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
/* An unknown word is refused; the error lists the known ones. */
[[nodiscard]] int run_state_parse(const char *word, enum run_state *ret, struct err *e);

/* Absent texts are NULL. A row that was read owns all of its texts; run_record_done() frees
 * them. */
struct run_record {
    int64_t seq; /* order of acceptance; the cursor of lists */
    enum run_state state;
    char *id, *language, *verdict;
    char *key;      /* name of the API key; NULL: no key */
    char *thread;   /* thread_id: the session */
    char *artifact; /* artifact id */
    char *batch;    /* batch id */
    char *surface;  /* "v1", "nemo", "artifacts", ... */
    char *request;  /* canonical JSON of the request, enough to run it again */
    char *
        result; /* JSON of the result without stdout, stderr and the journal; NULL until finished */
    char *code; /* text of the main file, for q= and for display; may be NULL */
    int64_t created_ms, started_ms, finished_ms; /* Unix time; 0: not yet */
    int64_t wall_us, cpu_us, memory_peak;
    /* The journal of output (run/journal.h): in this buffer if small, otherwise in output/ID. */
    struct buf journal;
    bool journal_in_file;
    struct buf files; /* bundle of output files (spec/bundle.h) */
};
void run_record_done(struct run_record *r);

/* Uses id, state, language, key, thread, artifact, batch, surface, request, code, created_ms. */
[[nodiscard]] int runs_insert(struct db *db, const struct run_record *r, struct err *e);
/* Sets the state to finished; ERR_CONFLICT if it already is. Uses id, verdict, result, started_ms,
 * finished_ms, wall_us, cpu_us, memory_peak, journal, journal_in_file, files. request and code are
 * used if they are not NULL (an approver edited them). */
[[nodiscard]] int runs_finish(struct db *db, const struct run_record *r, struct err *e);

enum { RUN_WITHOUT_BLOBS = 0, RUN_WITH_JOURNAL = 1, RUN_WITH_FILES = 2 };
[[nodiscard]] int runs_get(struct db *db, const char *id, unsigned with, struct run_record *ret,
                           struct err *e);

struct run_query {
    const char *language, *verdict, *key, *thread, *artifact, *batch, *state,
        *surface;               /* NULL: any */
    const char *q;              /* a text in the code; NULL: any */
    int64_t since_ms, until_ms; /* bounds of created_ms; 0: open */
    int64_t key_since_ms; /* creation of the key: an earlier run is of another key of this name */
    int64_t before_seq;   /* the cursor: only older rows; 0: from the newest */
    unsigned limit;       /* 1..1000 */
};
struct run_records {
    struct run_record *rows; /* newest first, without request, result, code and the blobs */
    size_t n;
    int64_t next_before_seq; /* cursor of the next page; 0 at the end */
};
void run_records_done(struct run_records *r);
/* The newest run is the one accepted last. If since_ms or until_ms is set and no other filter but
 * key, verdict and language, it is the run with the latest created_ms; that differs only if the
 * clock was set back. Each filter walks an index. q reads the code of every run that passes the
 * other filters. */
[[nodiscard]] int runs_list(struct db *db, const struct run_query *q, struct run_records *ret,
                            struct err *e);

/* At the start of the service: marks queued and running runs as interrupted. Waiting runs keep
 * waiting. except: a JSON array of the ids of runs that go on; NULL: none. *ret_n: their number. */
[[nodiscard]] int runs_interrupt_unfinished(struct db *db, int64_t now_ms, const char *except,
                                            int64_t *ret_n, struct err *e);

/* Counts for /v1/stats: one row for each (language, verdict) of finished runs. since_ms 0: all runs
 * ever, including the ones that retention removed, from stored totals. Otherwise the runs created
 * since then, counted now. */
struct run_stat {
    char language[32], verdict[32];
    int64_t n, wall_us_sum, wall_us_max, cpu_us_sum, memory_peak_max;
};
[[nodiscard]] int runs_stats(struct db *db, int64_t since_ms, struct run_stat **ret, size_t *ret_n,
                             struct err *e);

/* Removes finished runs older than max_age_ms with their files, then the oldest runs until the
 * history takes at most max_bytes. A call removes up to `batch` runs, so that other jobs do not
 * wait long. *ret_more: call again, in another transaction; files are removed one call after their
 * rows. Interrupted runs count as finished. A bound of 0 means no bound. Approvals, artifacts and
 * the audit log stay. */
[[nodiscard]] int runs_retain(struct db *db, int64_t now_ms, int64_t max_age_ms, int64_t max_bytes,
                              unsigned batch, bool *ret_more, int64_t *ret_removed, struct err *e);
