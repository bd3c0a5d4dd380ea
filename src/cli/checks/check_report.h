/* cli/checks/check_report.h — the result of `belljar check`, for people and programs.
 * Runs in: the reporter (cli/suite/reported_run.h). */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct check_report_options {
    bool json;
};
enum { CHECK_FOUND = 1 }; /* the exit status if something is wrong */

/* Reads one JSON object to the end of the pipe, and reports it. The exit status, or -1. */
[[nodiscard]] int check_print(int fd, const struct check_report_options *o, struct err *e);
