/* cli/repl/passing.h — a connection to the service that main makes for a process without rights, and
 * passes on with its host and key. Runs in: main, and the process at the other end of the link. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "cli/service_choice.h"

/* Answers TELL_CONNECT: connects, and sends ASK_CONNECTED with the descriptor or the reason. -1 only
 * if the link failed. */
[[nodiscard]] int passing_send(int link_fd, const struct service_choice *s, struct err *e);
/* Makes a client of the record ASK_CONNECTED. Takes over the descriptor; -1 is ERR_UNAVAILABLE. */
[[nodiscard]] int passing_take(const struct buf *record, int fd, struct client **ret,
                               struct err *e);
