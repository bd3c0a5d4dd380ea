/* api/runs/debug_report.h — a result in the form that automatic debuggers expect. Runs in: keeper;
 * pure functions. */
#pragma once

#include "api/kernel/api.h"

/* {"analysis": {is_error, error_type, suggestion?, exception?, error?}, "report": {status,
 * exit_code, ...}} of a result with its streams. A new reference. */
json_t *debug_report(const json_t *result);
extern const struct api_field debug_report_reply[];
