/* service/answers.h — versions of languages that are told while the keeper serves already.
 * Runs in: keeper. The programs that tell are the machine's own, started by the supervisor. */
#pragma once

#include <uv.h>

#include "engine/engine.h"
#include "runtime/version.h"

struct answer {
    uv_poll_t poll;
    struct engine *runner;
    const struct language *language;
    int fd; /* -1: nothing is awaited */
    char text[VERSION_TEXT_MAX];
    size_t len;
};

struct answers {
    struct answer list[LANGUAGES_MAX];
};

/* fds: in the order of languages[], -1 for none; closed here. Until it has answered, a language counts as installed. */
void answers_start(struct answers *a, uv_loop_t *loop, struct engine *runner, const int *fds);
/* The loop must turn once more after it. */
void answers_stop(struct answers *a);
