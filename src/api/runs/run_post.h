/* api/runs/run_post.h — POST /v1/runs, for routes that make their request into that of a run.
 * Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* The body has the fields of run_fields. */
void run_post(struct api_call *c);
/* Its part in a thread: `prepare` of struct api_route. */
[[nodiscard]] int run_prepare(struct api_call *c, const struct api *here, const struct buf *bytes,
                              char *field, size_t size, struct err *e);
extern const struct api_field run_accepted_reply[];
