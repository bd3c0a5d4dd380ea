/* service/version_answers.h — versions of languages that arrive while the keeper already serves.
 * Runs in: keeper. The supervisor starts the programs, which are the machine's own. */
#pragma once

#include <uv.h>

#include "engine/engine.h"
#include "runtime/version.h"

struct version_answer {
    uv_poll_t poll;
    struct engine *engine;
    const struct language *language;
    int fd;       /* -1: no answer is expected */
    bool closing; /* libuv still has `poll` */
    char text[VERSION_TEXT_MAX];
    size_t len;
};

struct version_answers {
    struct version_answer list[LANGUAGES_MAX];
};

/* fds: in the order of languages[], -1 for none; closed here. Until a language has answered, it
 * counts as installed. */
void version_answers_start(struct version_answers *a, uv_loop_t *loop, struct engine *engine,
                           const int *fds);
/* One more, of a language that was installed later. Takes over fd. */
void version_answers_add(struct version_answers *a, uv_loop_t *loop, struct engine *engine,
                         size_t index, int fd);
/* The loop must run once more afterwards. */
void version_answers_stop(struct version_answers *a);
