/* library/library.h — the parts of libbelljar that its files share. Runs in: a program of
 * somebody else, with the rights and threads of that program.
 *
 * Invariants
 * LIBRARY-1 No mutable global, no thread, no change of signals, of the working directory or of the
 *           environment. Every descriptor is CLOEXEC, and no write raises SIGPIPE.
 * LIBRARY-2 The lock of a handle is held for moments only: never while the library waits for the
  * service.
 * LIBRARY-3 Every failure has an error object, also if there is no memory for one.
 * LIBRARY-4 src/library/belljar.map lists every symbol that the library exports. A symbol never
 *           leaves it and never changes its meaning; a new one gets the node of its version. */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <belljar.h>

#include "base/buf.h"
#include "base/err.h"
#include "client/address.h"
#include "client/client.h"

enum { LIBRARY_ANSWER_MAX = 128 << 20, LIBRARY_IDLE_MAX = 16 };

/* ---- errors: always -1 ---- */

[[nodiscard, gnu::cold, gnu::format(printf, 3, 4)]] int library_fail(struct belljar_error **error,
                                                                     enum belljar_error_code code,
                                                                     const char *fmt, ...);
[[nodiscard, gnu::cold]] int library_fail_memory(struct belljar_error **error);
[[nodiscard, gnu::cold]] int library_fail_err(struct belljar_error **error, const struct err *e);
/* An answer that is not 2xx. */
[[nodiscard, gnu::cold]] int library_fail_answer(struct belljar_error **error,
                                                 const struct client *c);

/* ---- structs of the caller ---- */

/* Copies a struct that begins with its size. Members that the caller's version lacks become 0.
 * `least` is the size of the first version. */
[[nodiscard]] int library_take_struct(const void *given, void *ret, size_t size, size_t least,
                                      const char *name, struct belljar_error **error);
#define LIBRARY_END(type, member) (offsetof(type, member) + sizeof((type *)NULL)->member)
/* The other way: fills as many bytes of the caller's struct as it has. */
void library_give_struct(void *ret, const void *own, size_t size);

/* ---- the private service ---- */

struct private_host {
    pid_t pid; /* 0: none */
    int pid_fd, lifeline_fd;
    bool temporary;
    char *socket_path; /* as the service says */
};
#define PRIVATE_HOST_INIT                \
    {                                    \
        .pid_fd = -1, .lifeline_fd = -1, \
    }
[[nodiscard]] int private_host_start(struct private_host *h, const struct belljar_options *o,
                                     struct belljar_error **error);
/* Ends it and waits for its end. */
void private_host_done(struct private_host *h);

/* ---- handles ---- */

struct belljar {
    pthread_mutex_t lock; /* of the members up to n_idle */
    unsigned references;  /* the handle itself, its runs and its sessions */
    bool closed;
    struct client *idle[LIBRARY_IDLE_MAX];
    size_t n_idle;
    /* these do not change */
    char *address, *key;
    struct client_address at;
    int patience_ms;
    struct private_host service;
};

void library_hold(struct belljar *b);
void library_release(struct belljar *b);

/* A connection that can send a request. `ret_used` tells that it has served others. */
[[nodiscard]] int library_take(struct belljar *b, struct client **ret, bool *ret_used,
                               struct belljar_error **error);
/* Keeps a connection for the next call, if it can serve one. */
void library_give_back(struct belljar *b, struct client *c);
/* One question and its whole answer. ret may be NULL. */
[[nodiscard]] int library_ask(struct belljar *b, const struct client_request *q, struct buf *ret,
                              struct belljar_error **error);
/* The same with a JSON body, which is taken over; NULL is a failed allocation. */
[[nodiscard]] int library_post(struct belljar *b, const char *path, json_t *body, json_t **ret,
                               struct belljar_error **error);
/* The bytes of a buffer, which is empty afterwards. */
[[nodiscard]] int library_bytes(struct buf *b, struct belljar_bytes **ret,
                                struct belljar_error **error);

/* ---- bodies of requests ---- */

[[nodiscard]] int library_request_json(const struct belljar_request *given, json_t **ret,
                                       struct belljar_error **error);
[[nodiscard]] int library_session_json(const struct belljar_session_options *given, json_t **ret,
                                       struct belljar_error **error);
[[nodiscard]] int library_cell_json(const struct belljar_cell *given, json_t **ret,
                                    struct belljar_error **error);

/* ---- runs and results ---- */

/* Sends the request for a run or a cell, and waits until it is accepted. Takes the body over.
 * `session` is the id of the session of a cell; NULL: a run. */
[[nodiscard]] int library_start(struct belljar *b, const char *session, json_t *body,
                                struct belljar_run **ret, struct belljar_error **error);
/* Waits for the end, and frees the run. */
[[nodiscard]] int library_finish(struct belljar_run *run, struct belljar_result **ret,
                                 struct belljar_error **error);

/* Takes over the object and the bytes. */
[[nodiscard]] struct belljar_result *library_result(json_t *object, struct buf *out,
                                                    struct buf *err);
