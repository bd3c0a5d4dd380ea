/* cli/repl/render.h — events and answers of a session as text. Runs in: the talker. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "cli/repl/sixel.h"
#include "cli/repl/talker.h"

struct renderer {
    enum image_protocol images;
    const struct sixel *sixel; /* for IMAGES_SIXEL; NULL: there is no libpng */
    /* NULL, or at a terminal: whether the output has stopped in the middle of a line. */
    bool *middle;
    /* Stores an image; `end` is the end of its name, such as "png". */
    int (*on_image)(void *arg, const char *end, const struct buf *bytes, struct err *e);
    void *arg;
};

[[nodiscard]] int render_event(const struct renderer *r, const char *name, const json_t *event,
                               struct err *e);
void render_variables(const json_t *answer);
void render_inspection(const json_t *answer);
void render_limits(const json_t *session);
