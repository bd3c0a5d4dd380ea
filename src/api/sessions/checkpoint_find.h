/* api/sessions/checkpoint_find.h — the checkpoint that a request names. Runs in: keeper. */
#pragma once

#include "session/session.h"

/* By id, name, or the number of a cell. */
[[nodiscard]] int checkpoint_from_json(const struct session *s, const json_t *to,
                                       struct checkpoint *ret, struct err *e);
