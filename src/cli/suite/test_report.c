#include "cli/suite/test_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "cli/suite/reported_run.h"
#include "cli/verify/report.h"
#include "diagnose/core/diagnose.h"
#include "run/diagnosis_json.h"
#include "run/json.h"

/* The JSON of a run has every byte of its output, a control character as six bytes. */
enum { RESULT_MAX = 256 << 20 };

static long long count_of(const json_t *tests, const char *key)
{
    return (long long)json_integer_value(json_object_get(tests, key));
}

/* ---- text ---- */

static int add_text(struct buf *out, const char *text, struct err *e)
{
    return report_add_printable(out, text, strlen(text), e);
}

static int add_diagnosis(const json_t *json, struct buf *out, struct err *e)
{
    autofree struct diagnosis *d = calloc(1, sizeof *d);
    if (!d)
        return err_no_memory(e, "a diagnosis");
    return diagnosis_from_json(json, d) ? diagnosis_text(d, false, 0, out, e) : 0;
}

int test_details(const json_t *test, struct buf *out, struct err *e)
{
    const json_t *diagnosis = json_object_get(test, "diagnosis"),
                 *details = json_object_get(test, "details");
    const char *message = json_get_text(test, "message"), *file = json_get_text(test, "file");
    if (json_is_object(diagnosis))
        return add_diagnosis(diagnosis, out, e);
    if (*file && (add_text(out, file, e) || buf_addf(out, e, ":%lld\n", count_of(test, "line"))))
        return -1;
    if (!json_is_string(details))
        return add_text(out, message, e);
    return report_add_tail(details, out, e);
}

static const struct {
    const char *outcome, *word, *colour;
} shown[] = {
    { "passed", "ok  ", "\033[32m" },
    { "failed", "FAIL", "\033[1;31m" },
    { "error", "FAIL", "\033[1;31m" },
    { "skipped", "skip", "\033[33m" },
};

static int print_case(const json_t *test, bool verbose, bool colour, struct err *e)
{
    const char *outcome = json_get_text(test, "outcome"), *message = json_get_text(test, "message");
    bool bad = strcmp(outcome, "failed") == 0 || strcmp(outcome, "error") == 0;
    scoped(buf) line = { 0 }, details = { 0 };
    size_t i = 0;
    if (!bad && !verbose)
        return 0;
    while (i + 1 < sizeof shown / sizeof shown[0] && strcmp(shown[i].outcome, outcome) != 0)
        i++;
    if (buf_addf(&line, e, "%s%s%s  ", colour ? shown[i].colour : "", shown[i].word,
                 colour ? "\033[0m" : "") ||
        add_text(&line, json_get_text(test, "name"), e) || (bad && test_details(test, &details, e)))
        return -1;
    if (!bad && *message && (buf_addf(&line, e, ": ") || add_text(&line, message, e)))
        return -1;
    (void)printf("%s\n", buf_str(&line));
    report_print_indented(&details);
    return 0;
}

/* "2 passed, 1 failed, 1 skipped" */
static void print_totals(const json_t *result, const json_t *tests)
{
    static const char *const others[][2] = { { "failed", "failed" },
                                             { "error", "with an error" },
                                             { "skipped", "skipped" } };
    const json_t *usage = json_object_get(result, "usage");
    (void)printf("%s: %lld passed", json_get_text(tests, "runner"), count_of(tests, "passed"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (count_of(tests, others[i][0]) > 0)
            (void)printf(", %lld %s", count_of(tests, others[i][0]), others[i][1]);
    (void)printf(" in %.1f s%s; the tests report this themselves\n",
                 json_number_value(json_object_get(usage, "wall_ms")) / 1000,
                 json_is_true(json_object_get(tests, "cut")) ? " (some are left out)" : "");
}

static int print_text(const json_t *result, const json_t *tests, bool verbose, struct err *e)
{
    bool colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    scoped(buf) tail = { 0 };
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(tests, "cases"), i, test)
        if (print_case(test, verbose, colour, e))
            return -1;
    if (count_of(tests, "total") > 0) {
        print_totals(result, tests);
    } else if (strcmp(json_get_text(result, "outcome"), "passed") != 0) {
        if (report_add_tail(json_object_get(result, "stdout"), &tail, e) ||
            report_add_tail(json_object_get(result, "stderr"), &tail, e))
            return -1;
        report_print_indented(&tail);
    }
    return fflush(stdout) == EOF || ferror(stdout)
               ? err_set(e, ERR_KERNEL, errno, "write the report")
               : 0;
}

/* ---- the end ---- */

static int end_stopped(const json_t *result, struct err *e)
{
    const char *error = json_get_text(result, "error"), *verdict = json_get_text(result, "verdict");
    scoped(buf) shown_error = { 0 };
    if (*error && add_text(&shown_error, error, e))
        return -1;
    (void)fprintf(stderr, "belljar: %s: the tests were ended before their end%s%s\n", verdict,
                  *error ? ": " : "; --timeout, --memory and the other limits give them more",
                  buf_str(&shown_error));
    json_int_t status = json_integer_value(json_object_get(result, "exit_code"));
    return status > 0 && status < 256 ? (int)status : err_exit_status(ERR_PROTOCOL);
}

static int end(const json_t *result, const struct test_report_options *o, struct err *e)
{
    const char *outcome = json_get_text(result, "outcome");
    if (strcmp(outcome, "passed") == 0)
        return 0;
    if (strcmp(outcome, "failed") == 0)
        return TEST_FAILED;
    if (strcmp(outcome, "stopped") == 0)
        return end_stopped(result, e);
    if (strcmp(outcome, "no_tests") == 0)
        return err_set(e, ERR_NOT_FOUND, 0,
                       "%s found no tests: name files and functions as it expects them, or choose "
                       "another with --test-runner",
                       o->runner->name);
    return err_set(e, ERR_UNAVAILABLE, 0,
                   "the report of %s could not be read: 'belljar test --json' has its output",
                   o->runner->name);
}

static int write_reports(const json_t *result, const struct test_report_options *o, struct err *e)
{
    const json_t *tests = json_object_get(result, "tests");
    scoped(buf) junit = { 0 };
    if (o->json && (json_dumpf(result, stdout, JSON_INDENT(2) | JSON_DIGITS) < 0 ||
                    putchar('\n') == EOF || fflush(stdout) == EOF))
        return err_set(e, ERR_KERNEL, errno, "write the report");
    if (!o->json && print_text(result, tests, o->verbose, e))
        return -1;
    if (o->junit_fd < 0)
        return 0;
    if (test_junit(result, &junit, e))
        return -1;
    if (fd_write_all(o->junit_fd, buf_str(&junit), junit.len))
        return err_set(e, ERR_KERNEL, errno, "write the report of --junit");
    return 0;
}

int test_report(int fd, const struct test_report_options *o, struct err *e)
{
    scoped(buf) text = { 0 };
    if (fd_read_to_buf(fd, RESULT_MAX, &text, e))
        return -1;
    if (text.len == 0) /* the run has said why */
        return REPORTED_NO_RESULT;
    json_auto_t *result = json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);
    if (!json_is_object(result))
        return err_set(e, ERR_PROTOCOL, 0, "the result of the tests is not JSON");
    if (write_reports(result, o, e))
        return -1;
    return end(result, o, e);
}
