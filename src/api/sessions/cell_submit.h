/* api/sessions/cell_submit.h — a cell from a request to the line of its session. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"
#include "session/session.h"

/* Borrowed. */
struct cell_request {
    json_t *code, *metadata, *stdin_text; /* strings, and any JSON; NULL: none, except for `code` */
    const char *permission_mode;          /* NULL: that of the service */
    uint64_t wall_ms;
    bool silent;
    const json_t *env, *options; /* of the cell alone; for its program; NULL: none */
    bool reads_stdin; /* stdin_text answers requests for input; after it there is no more */
};

/* The time limit of a cell, in milliseconds: the field "timeout", or that of the session. */
[[nodiscard]] int cell_timeout(const struct api_call *c, const struct session *s, uint64_t *ret,
                               struct err *e);
/* ret_field (size >= 128) gets the name of a field that is refused. */
[[nodiscard]] int cell_submit(struct api_call *c, struct session *s, const struct cell_request *q,
                              struct run **ret, char *ret_field, size_t field_size, struct err *e);
