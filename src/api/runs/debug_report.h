/* api/runs/debug_report.h — a result as tools that debug programs by themselves want it. Runs in: keeper; pure. */
#pragma once

#include <jansson.h>

/* {"analysis": {is_error, error_type, suggestion?, exception?, error?}, "report": {status, exit_code, …}} of a result with
 * its streams. A new reference. */
json_t *debug_report(const json_t *result);
extern const char *const debug_error_types[]; /* NULL-terminated */
