/* cli/commands/approval_view.h — a request for an approval as text. Runs in: the command, after it gave
 * up the rights of root: strangers wrote the request. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

/* One line for a list. */
[[nodiscard]] int approval_add_row(struct buf *b, const json_t *approval, struct err *e);
/* Everything that the program gets, with each risk below its line. */
[[nodiscard]] int approval_add(struct buf *b, const json_t *approval, struct err *e);
