/* examiner/exchange.h — one question to one reader, as the keeper sees it. Runs in: keeper; no event
 * loop: the service steps it from libuv, a command from poll(2). */
#pragma once

#include "examiner/answer.h"
#include "runtime/modules.h"

/* An answer that takes longer is lost: in the service, and in a command, where nobody else waits. The
 * time is for a busy machine: RLIMIT_CPU bounds the work of a reader. */
enum { EXCHANGE_MS = 3000, EXCHANGE_COMMAND_MS = 20000 };

enum exchange_state {
    EXCHANGE_SENDING,  /* go on when the socket is writable */
    EXCHANGE_WAITING,  /* go on when it is readable */
    EXCHANGE_RECEIVED, /* the answer is complete; exchange_answer() */
    EXCHANGE_LOST,     /* the reader died, or broke the rules */
};

struct exchange {
    int fd; /* of the reader, non-blocking; closed by exchange_done() */
    uint64_t id;
    const struct buf *question; /* question_pack(); borrowed */
    size_t sent;
    struct buf received;
    unsigned modules_asked;
    struct modules modules; /* for questions of the reader */
};

/* Goes as far as it can without waiting. */
enum exchange_state exchange_step(struct exchange *x);
/* Unpacks the answer. Megabytes of it take tens of milliseconds; any thread may do it. False: it is
 * malformed, and so lost. */
bool exchange_answer(const struct exchange *x, struct answer *ret);
void exchange_done(struct exchange *x);

/* A whole exchange, for a process without an event loop; takes over the socket. False: it is lost. */
bool exchange_run(int fd, uint64_t id, const struct buf *question, const struct modules *modules,
                  struct answer *ret);
