/* api/runs/batch.h — many runs for one request: batches and comparisons. Runs in: keeper.
 *
 * Invariants
 * B1 Nothing starts before everything was found to be in order.
 * B2 At most `parallel` of a group's runs are in flight; they are made ready one by one, so that a group holds its
 *    request and the results, never a bundle for each run.
 * B3 Every run of a group is told of exactly once: finished, or skipped; then the group is done. */
#pragma once

#include "api/kernel/api.h"
#include "api/runs/expected.h"
#include "api/runs/stream.h"
#include "run/json.h"

struct group;
struct group_ops {
    /* The i-th run as the fields of POST /v1/runs. A new reference; NULL when memory ran out. */
    json_t *(*request)(const struct group *g, size_t i);
    /* It is over; x is NULL when it could not be started, and e says why. */
    void (*finished)(struct group *g, size_t i, const struct run *x, const struct err *e);
    void (*skipped)(struct group *g, size_t i);
    /* All is told; frees the group. */
    void (*done)(struct group *g);
};

struct group_item {
    struct run_watch watch;
    struct group *group;
    struct run *exec; /* while it is in flight */
    bool cancelled;   /* by group_stop() */
};

struct group {
    const struct group_ops *ops;
    struct api_call *call; /* lives as long as the group */
    char id[ID_SIZE];      /* the batch of its runs */
    struct group_item *items;
    size_t n, next;
    unsigned parallel, in_flight;
    bool stopped;
    unsigned busy; /* inside calls that may come back here */
    uint64_t started_us;
    struct group *next_group; /* of api->groups */
};

/* Its id begins with the prefix, "bat_" or "cmp_". ERR_BUSY when too many are at work. */
[[nodiscard]] int group_init(struct group *g, const struct group_ops *ops, struct api_call *c,
                             const char *prefix, size_t n, struct err *e);
void group_done(struct group *g);
/* Of the request's fields "parallel": 1 to the number of runs at a time, half of it when absent. */
[[nodiscard]] int group_set_parallel(struct group *g, struct err *e);
/* May be done before it returns. */
void group_start(struct group *g);
/* Nothing new starts, what is in flight is cancelled. May be done before it returns. */
void group_stop(struct group *g);
/* The group at work under this id, or NULL. */
const struct group *group_find(const struct api *api, const char *id);
double group_wall_ms(const struct group *g);
/* How many bytes of each stream a result shows: many runs share what a few could have. */
uint64_t group_inline_max(const struct group *g);

/* A run of a group, checked before any starts. Errors and ret_field (size 128) name it: "runs[3].limits.memory". */
[[nodiscard]] int group_check(const struct group *g, const json_t *request, const char *prefix,
                              char ret_field[128], struct err *e);
/* Each input ("stdin", "stdin_encoding", "args") of a run that is in order. They are tried on a program of one byte, so that
 * many inputs of a large program are checked quickly. */
[[nodiscard]] int group_check_inputs(const struct group *g, const json_t *run, const json_t *inputs,
                                     char ret_field[128], struct err *e);
/* The run with what an input has. A shallow copy: what is large is shared. */
json_t *request_with_input(const json_t *run, const json_t *input);
/* How many there may be in one request. `what` is "runs", "variants times inputs". */
[[nodiscard]] int group_check_count(const struct api_call *c, const char *what, size_t n,
                                    struct err *e);

/* What the client gets: one JSON object at the end, or events until then. */
struct answer {
    struct api_call *call;
    bool streamed;
    enum stream_format format;
    unsigned seq;
};
/* By the field "stream" and the header Accept. */
void answer_begin(struct answer *a, struct api_call *c);
/* {"event": name, "seq": N, …}. The reference is taken; nothing happens where one object is asked for. */
void answer_event(struct answer *a, const char *name, json_t *fields);
/* Ends the call: the object, or the last event "done" with its fields. The reference is taken. */
void answer_end(struct answer *a, json_t *object);

/* A piece of output to look at, cut where it is long; null where there is none. */
json_t *output_json(struct output_piece p);
/* The name a caller gave, or PREFIX-N. A new reference. */
json_t *name_or_number(const json_t *object, const char *prefix, size_t i);

extern const char *const group_event_words[]; /* NULL-terminated */
