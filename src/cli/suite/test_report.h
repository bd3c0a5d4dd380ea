/* cli/suite/test_report.h — the result of `belljar test`, for people, programs and CI systems.
 * Runs in: a process with the uid and the confinement of a keeper (TESTREPORT-1).
 *
 * TESTREPORT-1 main reads no byte of the result, which holds bytes of the tests. The reporter reads
 *              it from a pipe, and writes to stdout and to the file of --junit alone. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "suite/suite.h"

struct test_report_options {
    const struct suite_runner *runner;
    bool json, verbose;
    int junit_fd; /* -1: no such report */
};

enum { TEST_FAILED = 1 };

/* Reads one JSON object to the end of the pipe, and reports it. The exit status, or -1. */
[[nodiscard]] int test_report(int fd, const struct test_report_options *o, struct err *e);
[[nodiscard]] int test_junit(const json_t *result, struct buf *out, struct err *e);
/* The text below a failed test: its diagnosis, or its message. */
[[nodiscard]] int test_details(const json_t *test, struct buf *out, struct err *e);
