/* engine/examinations.h — questions to the readers of the examiner, on the libuv loop. Runs in:
 * keeper.
 *
 * EXAMINATION-1 Every examination ends, once: with an answer, or lost after EXCHANGE_MS at work and
 *               EXAMINATION_WAIT_MS in line, or when the engine closes. A lost one is counted, and
 *               costs a diagnosis only.
 * EXAMINATION-2 A reader has one question. An answer that comes too late meets a closed socket.
 * EXAMINATION-3 No key takes the diagnoses of another one: losses pause their own key, and one
 *               reader is left for the other keys.
 * EXAMINATION-4 The loop unpacks small answers alone; larger ones are unpacked in libuv's pool. */
#pragma once

#include <uv.h>

#include "engine/examination_pauses.h"
#include "examiner/answer.h"
#include "runtime/modules.h"

enum {
    EXAMINATION_WAIT_MS = 2000,
    EXAMINATION_UNPACK_MAX = 64 << 10, /* bytes of an answer that the loop unpacks */
};

struct engine;

struct examination {
    /* The caller fills these in, and keeps the struct until on_done(). */
    struct buf question; /* question_pack(), with `id`; freed before on_done() */
    uint64_t id;         /* examination_id() */
    const char *key;     /* of the client; NULL: none. Borrowed. */
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
    struct examination *waiting; /* for a reader, in the order of arrival */
    uint64_t last_id;
    struct examination_pauses pauses;
    bool deserted;         /* somebody waited in vain, and no reader has come since */
    uint64_t listen_at_ms; /* after a lack of descriptors; 0: readers are taken as they come */
    uv_timer_t timer;      /* active while there is something to wait for */
};
void examinations_init(struct engine *engine);
/* Takes over the socket of examiner_start(). */
[[nodiscard]] int examinations_open(struct engine *engine, int examiner_fd, struct err *e);
/* Every examination that is left is lost: on_done() is called. */
void examinations_end(struct engine *engine);
/* The same, and the end of the handles; on_timer_closed() follows on the loop. */
void examinations_close(struct engine *engine, uv_close_cb on_timer_closed);
