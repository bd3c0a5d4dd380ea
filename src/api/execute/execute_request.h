/* api/execute/execute_request.h — the request of /execute, with and without a session. Its clients
 * expect these sentences and this order of checks. Runs in: keeper, and threads of its pool. */
#pragma once

#include "api/kernel/api.h"
#include "normalise/payload.h"

struct execute_request {
    struct payload payload;
    const struct language *language;
    bool needs_session; /* the language is `ipython` */
    uint64_t wall_ms;
    const json_t *timeout, *std_input; /* of the body */
    bool cuts;
    uint64_t max_characters;
};
void execute_request_done(struct execute_request *q);

[[nodiscard]] int execute_check_type(const struct http_request *q, struct err *e);
/* An object. */
[[nodiscard]] int execute_read_body(const struct buf *bytes, json_t **ret, struct err *e);
/* In the order that clients expect. */
[[nodiscard]] int execute_read_request(const struct api *api, const json_t *body,
                                       struct execute_request *q, struct err *e);
/* Cuts a text after so many characters, and says so. */
[[nodiscard]] int execute_cut(struct buf *b, uint64_t max, struct err *e);
