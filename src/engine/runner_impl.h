/* engine/runner_impl.h — what runner.c, queue.c, exec.c and history.c share. Runs in: keeper. */
#pragma once

#include "engine/runner.h"
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
};

/* What a run watches: its pipes. */
enum { PIPE_STDOUT, PIPE_STDERR, PIPE_OUTPUTS, PIPE_STDIN, PIPES };

struct live {
    struct exec x;
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
    struct run run;
    uv_poll_t polls[PIPES];
    bool polling[PIPES];
    bool gathers[2], ripe[2]; /* stdout, stderr: not read until the next tick; to be read now */
    struct buf stdin_bytes;   /* not yet taken by the program */
    size_t stdin_from;
    bool stdin_eof;
    uint64_t started_us;
    char error_text[sizeof((struct err *)0)->text];
    struct exec_watch *watches;
};

enum { SLOTS = 1024, STARTING_MAX = 16 };
enum { STDIN_WAITING_MAX = 1 << 20 }; /* bytes a program has not read; more are refused */
/* What was printed is read this much later, unless the last read brought as much as this; after many records, later still. */
enum { PACED_BYTES = 4096, PACE_MS = 1, PACED_RECORDS = 4096, SLOW_PACE_MS = 10 };

struct runner {
    uv_loop_t *loop;
    struct store *store;
    int dir_fd;
    struct runner_limits limits;
    struct queue queue;
    struct live *alive;
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
    struct runner_counts counts;
    char versions[LANGUAGES_MAX][VERSION_SIZE]; /* in the order of languages[] */
};

/* queue.c */
bool queue_has_room(const struct runner *r, const char *key, uint32_t key_max_runs);
[[nodiscard]] int queue_push(struct runner *r, struct live *l, struct err *e);
struct live *queue_pop(struct runner *r); /* the next that may run, or NULL; it counts as running */
void queue_leave(struct runner *r, struct live *l); /* waits or runs no more */

/* exec.c */
void exec_start(struct live *l);         /* into a jar; a failure is its end */
void exec_after_message(struct live *l); /* the wire spoke of it */
void exec_lost(struct live *l);          /* its warden is gone */
/* The end of one that has no jar: cancelled, rejected or failed. */
void exec_finish_early(struct live *l, enum verdict verdict, const char *why);
void exec_abandon(struct live *l, const struct err *why); /* an end without a record */
void exec_tell(struct live *l, enum exec_news what);
void exec_free_if_unused(struct live *l);

/* history.c: the records of a run */
[[nodiscard]] int history_accept(struct live *l, struct err *e); /* calls exec_accepted() */
void exec_accepted(struct live *l, const struct err *e);
void history_finish(struct live *l); /* calls exec_recorded() */
void exec_recorded(struct live *l, const struct err *e);

/* runner.c */
void runner_pump(struct runner *r); /* starts what may start */
void runner_check_idle(struct runner *r);
