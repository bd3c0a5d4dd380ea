/* cli/repl/travel.h — the commands of `belljar repl` that go through the states of a session: ':undo',
 * ':checkpoint', ':back', ':tree', ':fork', ':sleep' and ':wake'. Runs in: the talker. */
#pragma once

#include "cli/repl/connections.h"

/* `text` is the name of the command, a newline, and the words behind it. Asks the service and prints
 * its answer. */
[[nodiscard]] int travel_answer(struct connections *c, const char *id, const struct buf *text,
                                struct err *e);
