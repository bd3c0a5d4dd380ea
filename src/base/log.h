/* base/log.h — structured logs on stderr, one line for each event:
 *     2026-01-31T12:00:00.123Z info run.finished id=run_01 verdict=ok wall_ms=12
 * Runs in: supervisor and keeper. Libraries never log: `main`, `api` and the run boundary do.
 * Its level and its form are the mutable globals of the project. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

void log_set_level(enum log_level level);
/* Each line begins with its priority, "<6>", for a reader such as the journal of systemd. */
void log_set_priorities(bool on);

/* `fmt` makes the fields, "key=value key=value". A value from a stranger goes through text_quote()
 * and stands in double quotes. Lines are cut at 1 KiB. A control character is shown as '?'. */
[[gnu::format(printf, 3, 4)]] void log_event(enum log_level level, const char *event,
                                             const char *fmt, ...);
/* The same with error="..." at its end. */
void log_error(enum log_level level, const char *event, const struct err *e);
