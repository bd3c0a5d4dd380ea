/* engine/examinations.h — questions to the readers of the examiner, on the libuv loop. Runs in:
 * keeper.
 *
 * EXAMINATION-1 Every examination ends: with an answer, or lost after EXCHANGE_MS at work and
 *               EXAMINATION_WAIT_MS in line. A lost one is counted, and costs a diagnosis only.
 * EXAMINATION-2 A reader has one question. An answer that comes too late meets a closed socket. */
#pragma once

#include <uv.h>

#include "examiner/answer.h"
#include "runtime/modules.h"

enum {
    EXAMINATION_WAIT_MS = 2000,
    EXAMINATION_LOSSES_MAX = 3,   /* in a row; then there is a pause */
    EXAMINATION_PAUSE_MS = 10000, /* in which every examination is lost at once */
};

struct engine;

struct examination {
    /* The caller fills these in, and keeps the struct until on_done(). */
    struct buf question; /* question_pack(), with `id`; freed before on_done() */
    uint64_t id;         /* examination_id() */
    struct modules modules;
    /* answer NULL: it is lost. May be called from inside examine(). */
    void (*on_done)(struct examination *x, const struct answer *answer);
    /* private */
    struct examination *next;
    uint64_t waits_since_ms;
};

uint64_t examination_id(struct engine *engine);
void examine(struct engine *engine, struct examination *x);

/* The readers, and the examinations that wait for one. A member of struct engine. */
struct examinations {
    int examiner_fd; /* -1: there is no examiner */
    uv_poll_t *poll; /* of examiner_fd */
    struct reader_link *readers;
    struct examination *first, *last; /* that wait */
    uint64_t last_id;
    unsigned losses; /* in a row */
    uint64_t paused_until_ms;
    uv_timer_t timer; /* active while something waits or is at work */
};
void examinations_init(struct engine *engine);
/* Takes over the socket of examiner_start(). */
[[nodiscard]] int examinations_open(struct engine *engine, int examiner_fd, struct err *e);
/* Nothing may wait any longer. on_closed() follows on the loop. */
void examinations_close(struct engine *engine, uv_close_cb on_timer_closed);
