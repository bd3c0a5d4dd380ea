/* api/runs/batch.h — many runs for one request: batches and comparisons. Runs in: keeper. group.c
 * implements it; batch.c and compare.c are the two kinds of groups.
 *
 * Invariants
 * BATCH-1 No run starts before all runs of the request are checked.
 * BATCH-2 At most `parallel` runs of a group are in flight. Specs are made one by one, so a group
 *         keeps its request and the results, but no bundles. If the request is large, threads of
 *         libuv's pool check it and make the specs.
 * BATCH-3 Each run of a group is reported exactly once, as finished or skipped; then the group is
 *         done. A checker is a second run in the place of the first: the two are reported as one. */
#pragma once

#include "api/kernel/api.h"
#include "api/runs/expected.h"
#include "api/runs/stream.h"
#include "run/json.h"

struct group;
struct group_ops {
    /* The i-th run with the fields of POST /v1/runs. A new reference; NULL if memory ran out. */
    json_t *(*request)(const struct group *g, size_t i);
    /* The i-th run is over. x NULL: it did not start, and e is the reason. True: another run follows
     * in its place, for which request() is asked again. */
    bool (*finished)(struct group *g, size_t i, const struct run *x, const struct err *e);
    void (*skipped)(struct group *g, size_t i);
    /* Every run was reported. Frees the group. */
    void (*done)(struct group *g);
};

struct group_item {
    struct run_watch watch;
    struct group *group;
    struct run *run; /* while it is in flight */
    bool cancelled;  /* by group_stop() */
    bool again;      /* its turn comes again: the queue was full, or another run follows */
    bool is_checker; /* a run of the second kind, see checker.h */
    bool is_large;   /* its spec is made in a thread */
};

struct group {
    const struct group_ops *ops;
    struct api_call *call; /* lives as long as the group */
    char id[ID_SIZE];      /* the batch of its runs */
    struct group_item *items;
    size_t n, next;
    unsigned parallel, in_flight;
    unsigned again; /* number of such items */
    bool stopped;
    bool is_large; /* its specs are made in threads */
    unsigned busy; /* inside calls that may call advance() */
    uint64_t started_us;
    struct group *next_group; /* of api->groups */
};

/* Its id begins with the prefix, "bat_" or "cmp_". ERR_BUSY if there are too many groups. */
[[nodiscard]] int group_init(struct group *g, const struct group_ops *ops, struct api_call *c,
                             const char *prefix, size_t n, struct err *e);
void group_done(struct group *g);
/* From the field "parallel": 1 to the number of runs at a time; half of that if absent. */
[[nodiscard]] int group_set_parallel(struct group *g, struct err *e);
/* The group may be done before this returns. */
void group_start(struct group *g);
/* Starts no more runs, and cancels runs in flight. The group may be done before this returns. */
void group_stop(struct group *g);
/* The current group with this id, or NULL. */
const struct group *group_find(const struct api *api, const char *id);
double group_wall_ms(const struct group *g);
/* The number of bytes of each stream in a result; smaller if there are many runs. */
uint64_t group_inline_max(const struct group *g);

/* Where the runs of a request are checked: on the loop, or in a thread, which does not know the
 * installed languages and the isolation. There it keeps the specs, without files, for group_check_here(). */
struct group_check {
    const struct api *api;
    const struct api_identity *who;
    bool in_thread;
    struct checked_run *runs;
    size_t n;
};
void group_check_done(struct group_check *k);
/* Checks a run before any run starts. Errors and ret_field (size 128) name it:
 * "runs[3].limits.memory". */
[[nodiscard]] int group_check_run(struct group_check *k, const json_t *request, const char *prefix,
                                  char ret_field[128], struct err *e);
/* On the loop: the checks that a thread could not make. */
[[nodiscard]] int group_check_here(const struct api *api, const struct group_check *k,
                                   char ret_field[128], struct err *e);
/* For `prepare` of a route: the call keeps it. NULL: memory ran out. */
struct group_check *group_check_in_thread(struct api_call *c, const struct api *here);
/* Checks each input ("stdin", "stdin_encoding", "args") of a valid run. Uses a program of one byte,
 * so that many inputs of a large program are checked quickly. */
[[nodiscard]] int group_check_inputs(struct group_check *k, const json_t *run, const json_t *inputs,
                                     char ret_field[128], struct err *e);
/* The run with the fields of an input. A shallow copy, which shares large values. */
json_t *request_with_input(const json_t *run, const json_t *input);
/* Checks the number of runs in one request. `noun` is "runs" or "variants times inputs". */
[[nodiscard]] int group_check_count(const struct api *api, const char *noun, size_t n,
                                    struct err *e);

/* The answer to the client: one JSON object at the end, or events until then. */
struct group_answer {
    struct api_call *call;
    bool streamed;
    enum stream_format format;
    unsigned seq;
};
/* By the field "stream" and the header Accept. */
void group_answer_begin(struct group_answer *a, struct api_call *c);
/* {"event": name, "seq": N, …}. Takes over the reference. Does nothing if the
 * client wants one object. */
void group_answer_event(struct group_answer *a, const char *name, json_t *fields);
/* Ends the call with the object, or with the last event "done". Takes over the reference. */
void group_answer_end(struct group_answer *a, json_t *object);

/* A piece of output, cut if it is long; null if there is none. */
json_t *output_json(struct output_piece p);
/* The name in the request, or PREFIX-N. A new reference. */
json_t *name_or_number(const json_t *object, const char *prefix, size_t i);

extern const char *const group_event_words[]; /* NULL-terminated */
