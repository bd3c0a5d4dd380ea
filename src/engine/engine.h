/* engine/engine.h — all runs of the service: admission, the fair queue, and the one wire on which
 * they run. Runs in: keeper, on its libuv loop.
 *
 * Invariants
 * ENGINE-1 At most `max` runs have a jar, and at most `max_per_key` of one key. At most `queue`
 *          runs wait for one, plus `burst` runs that come at once while the service is not busy;
 *          the runs of a batch do not count, since a batch has its own bound. At most `undecided`
 *          runs await a decision. All specs together have at most `bytes` bytes.
 * ENGINE-2 Keys take turns; the order of arrival counts only within a key.
 * ENGINE-3 At most 16 runs are on their way into a jar. So the wire stays short, sending never
 *          waits, and a waiting run can still be cancelled here.
 * ENGINE-4 If the warden is lost, its runs end as `internal_error`, and the queue waits for the
 *          next warden. */
#pragma once

#include "engine/pools/pools.h"
#include "engine/run.h"
#include "store/store.h"

struct engine;

struct engine_limits {
    unsigned max, queue, max_per_key;
    unsigned burst;        /* beyond `queue`, see admission.c */
    unsigned undecided;    /* runs that await a decision */
    uint64_t bytes;        /* of the specs of all runs */
    uint64_t memory, pids; /* promised to all running runs; 0: unbounded */
    bool no_values;        /* no diagnosis has values of variables */
};

/* Large journals become files in dir_fd, which is the output directory of the store. */
[[nodiscard]] int engine_new(struct engine **ret, uv_loop_t *loop, struct store *store, int dir_fd,
                             const struct engine_limits *limits, struct err *e);
/* After the last run. The loop has to turn once more. */
void engine_free(struct engine *engine);
void engine_set_limits(struct engine *engine, const struct engine_limits *limits);
struct programs *engine_programs(struct engine *engine);
/* Takes over the socket of examiner_start(). Without it runs have no diagnosis, and no report is
 * read. */
[[nodiscard]] int engine_set_examiner(struct engine *engine, int fd, struct err *e);
/* Every examination is over, now and from here on. Before the store and the api are closed. */
void engine_end_examinations(struct engine *engine);

/* A new warden; takes over fd. The runs of the former warden end as internal_error. */
[[nodiscard]] int engine_set_wire(struct engine *engine, int fd, const struct isolation *isolation,
                                  struct err *e);
/* A new porter; takes over fd. Jars of a former porter lose their network. */
[[nodiscard]] int engine_set_porter(struct engine *engine, int fd, uint32_t number, struct err *e);
/* on_lost(): the porter with this number is silent or gone. Another one is needed. */
typedef void engine_on_porter_lost(void *context, uint32_t number);
void engine_watch_porter(struct engine *engine, engine_on_porter_lost *on_lost, void *context);
/* Whether a run can have this network now, or soon; the error says why not. */
[[nodiscard]] int engine_network_possible(const struct engine *engine,
                                          const struct network_policy *p, struct err *e);
/* NULL while there is no warden. */
const struct isolation *engine_isolation(const struct engine *engine);
/* Accepts no more runs. on_idle() follows the end of the last run. */
void engine_drain(struct engine *engine, void (*on_idle)(void *context), void *context);
void engine_cancel_all(struct engine *engine);
/* Cancels the runs that are wanted; the number of them. */
size_t engine_cancel_if(struct engine *engine, bool (*wanted)(void *context, const struct run *run),
                        void *context);

/* The version of a language; NULL: it is not installed, or has not answered yet. */
const char *engine_version(const struct engine *engine, const struct language *l);
void engine_set_version(struct engine *engine, const struct language *l, const char *version);
/* The program of the language exists and has not answered yet. */
void engine_set_version_pending(struct engine *engine, const struct language *l, bool pending);
/* Whether the language is installed, or may turn out to be. */
bool engine_may_run(const struct engine *engine, const struct language *l);

enum {
    SUBMIT_UNBOUNDED = 1,       /* waits in the queue, however long that is */
    SUBMIT_AWAITS_DECISION = 2, /* waits for run_release() or run_reject() */
    SUBMIT_STORED = 4,          /* its row is in the history: it waited before a restart */
};
/* Takes over the spec, also on failure. ERR_BUSY if there is no room; engine_retry_after_s() says
 * how long to wait. id NULL: a new id. The watch, if any, gets every event, but none from inside
 * this call. */
[[nodiscard]] int engine_submit(struct engine *engine, struct run_spec *spec, unsigned flags,
                                const char *id, struct run_watch *w, struct run **ret,
                                struct err *e);
/* A jar that belongs to no run: that of a session. */
struct engine_jar {
    struct jar_run jar;
    void (*on_message)(struct engine_jar *j); /* the warden told something new about the jar */
    void (*on_lost)(struct engine_jar *j);    /* the warden is gone, and the jar with it */
    /* The porter told something: jar_run_on_network(). on_message() follows, also after its loss or
     * return. */
    void (*on_network)(struct engine_jar *j, const struct porter_event *event);
    struct engine *engine;
    unsigned kind; /* that its start counts for; 0: none */
    unsigned slot; /* private; valid while it has an id */
};
/* Sends the job of the request, whose id and bundle_fd are chosen here. */
[[nodiscard]] int engine_jar_start(struct engine *engine, struct engine_jar *j,
                                   struct jar_request *request, const struct buf *bundle,
                                   jar_run_sink *sink, void *context, struct err *e);
/* Takes over a jar that an earlier keeper left, from a `kept` message. */
[[nodiscard]] int engine_jar_adopt(struct engine *engine, struct engine_jar *j,
                                   struct wire_message *m, jar_run_sink *sink, void *context,
                                   struct err *e);
/* Asks the warden for every jar that an earlier keeper left, and waits. on_kept() adopts it; its end
 * may follow before this returns. -1: the warden is lost. */
typedef void engine_on_kept(void *context, struct wire_message *m);
[[nodiscard]] int engine_adopt(struct engine *engine, engine_on_kept *on_kept, void *context,
                               struct err *e);
bool engine_has_porter(const struct engine *engine);
/* jar_run_open_network(), jar_run_change_network() */
[[nodiscard]] int engine_jar_open_network(struct engine_jar *j, const struct network_policy *p,
                                          struct err *e);
[[nodiscard]] int engine_jar_change_network(struct engine_jar *j, const struct network_policy *p,
                                            struct err *e);
/* Forgets it, and closes our ends of its pipes. */
void engine_jar_done(struct engine_jar *j);

unsigned engine_retry_after_s(const struct engine *engine);
/* A run that is not done, or NULL. */
struct run *engine_find(struct engine *engine, const char *id);

/* The embryos that wait for a job, by kind. */
struct engine_pools {
    size_t n;
    struct {
        const char *name;
        unsigned target;
        struct pool_state state; /* of the last answer of the warden */
    } kinds[ZYGOTE_KINDS_MAX];
    /* by kind; 0: programs that fit no kind */
    uint64_t starts[ZYGOTE_KINDS_MAX + 1][START_COUNT_];
    bool short_of_memory;
};
struct engine_pools engine_pools(const struct engine *engine);
/* Asks the warden for new states, now and for a while. Called when somebody reads them. */
void engine_pools_refresh(struct engine *engine);
void engine_set_pools(struct engine *engine, const struct pools_settings *s);
/* Whether jars may be made in advance: there are pools, memory is not short, and no run waits. */
bool engine_may_prepare(const struct engine *engine);
/* Boots the zygote of the sessions of a language, as if one had come. */
void engine_expect_sessions(struct engine *engine, const struct language *l);

struct engine_counts {
    unsigned running, queued, undecided;
    uint64_t accepted, refused, finished[VERDICT_COUNT_];
    uint64_t warden_losses;
    uint64_t started, start_us; /* programs, and the sum of their times from acceptance to start */
    uint64_t compiled, compiles_failed, compiles_spared;
    uint64_t diagnoses_lost;
    uint64_t network_outcomes[NETWORK_OUTCOME_COUNT_], network_in, network_out; /* bytes */
};
struct engine_counts engine_counts(const struct engine *engine);
/* The sum of the memory limits of all running runs. */
uint64_t engine_promised_memory(const struct engine *engine);
