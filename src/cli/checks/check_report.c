#include "cli/checks/check_report.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "checks/checks.h"
#include "cli/suite/reported_run.h"
#include "cli/verify/report.h"
#include "diagnose/core/diagnose.h"
#include "run/diagnosis_json.h"
#include "run/json.h"

/* The JSON of a run has every byte of its output, a control character as six bytes. */
enum { RESULT_MAX = 64 << 20 };

static long long number_of(const json_t *o, const char *key)
{
    return (long long)json_integer_value(json_object_get(o, key));
}

static int add_text(struct buf *out, const char *text, struct err *e)
{
    return report_add_printable(out, text, strlen(text), e);
}

/* "main.py:3:1"; "": not known. */
static int add_place(const json_t *o, struct buf *out, struct err *e)
{
    const char *file = json_get_text(o, "file");
    if (!*file)
        return 0;
    if (add_text(out, file, e))
        return -1;
    if (number_of(o, "line") > 0 && buf_addf(out, e, ":%lld", number_of(o, "line")))
        return -1;
    return number_of(o, "line") > 0 && number_of(o, "column") > 0
               ? buf_addf(out, e, ":%lld", number_of(o, "column"))
               : 0;
}

/* ---- problems ---- */

static int add_problem(const json_t *problem, struct buf *out, struct err *e)
{
    const json_t *json = json_object_get(problem, "diagnosis");
    autofree struct diagnosis *d = calloc(1, sizeof *d);
    if (!d)
        return err_no_memory(e, "a diagnosis");
    if (json_is_object(json) && diagnosis_from_json(json, d)) {
        d->n_further = 0; /* they are problems of their own */
        d->further_left_out = 0;
        return diagnosis_text(d, false, 0, out, e);
    }
    if (add_place(problem, out, e) || (out->len > 0 && buf_addf(out, e, ": ")) ||
        add_text(out, json_get_text(problem, "message"), e))
        return -1;
    return buf_addf(out, e, "\n");
}

static int print_problem(const json_t *problem, struct err *e)
{
    scoped(buf) text = { 0 };
    if (add_problem(problem, &text, e))
        return -1;
    report_print_indented(&text);
    return 0;
}

/* ---- answers ---- */

/* The words for a state; NULL: it is named by its number of problems. */
static const char *const shown[] = {
    [CHECK_NONE] = "not checked: no tool for it is known",
    [CHECK_OK] = "ok",
    [CHECK_SKIPPED] = "not checked: the other errors come first",
    [CHECK_NOT_INSTALLED] = "not checked",
    [CHECK_UNKNOWN] = "not checked",
    [CHECK_FAILED] = NULL,
};

static enum check_state state_of(const json_t *answer)
{
    for (int i = 0; i < CHECK_STATE_COUNT_; i++)
        if (strcmp(check_states[i], json_get_text(answer, "state")) == 0)
            return (enum check_state)i;
    return CHECK_UNKNOWN;
}

/* "  syntax   ok (python3)" */
static int print_head(const char *step, const json_t *answer, struct err *e)
{
    enum check_state state = state_of(answer);
    const char *tool = json_get_text(answer, "tool"), *install = json_get_text(answer, "install");
    size_t problems = json_array_size(json_object_get(answer, "problems"));
    scoped(buf) line = { 0 };
    if (buf_addf(&line, e, "  %-8s ", step))
        return -1;
    if (shown[state]
            ? buf_addf(&line, e, "%s", shown[state])
            : buf_addf(&line, e, "%zu %s", problems, problems == 1 ? "problem" : "problems"))
        return -1;
    if (state == CHECK_NOT_INSTALLED
            ? (buf_addf(&line, e, ": ") || add_text(&line, tool, e) ||
               buf_addf(&line, e, " is not installed here: '") || add_text(&line, install, e) ||
               buf_addf(&line, e, "' installs it"))
            : (*tool && state != CHECK_NONE &&
               (buf_addf(&line, e, " (") || add_text(&line, tool, e) || buf_addf(&line, e, ")"))))
        return -1;
    (void)printf("%s\n", buf_str(&line));
    return 0;
}

static int print_language(const json_t *language, struct err *e)
{
    scoped(buf) name = { 0 };
    json_t *problem;
    size_t i;
    if (add_text(&name, json_get_text(language, "language"), e))
        return -1;
    (void)printf("%s\n", buf_str(&name));
    for (int k = 0; k < CHECK_QUESTIONS; k++) {
        const json_t *answer = json_object_get(language, check_steps[k]);
        if (print_head(check_steps[k], answer, e))
            return -1;
        json_array_foreach(json_object_get(answer, "problems"), i, problem)
            if (print_problem(problem, e))
                return -1;
    }
    return 0;
}

/* ---- risks ---- */

static int print_risk(const json_t *risk, struct err *e)
{
    scoped(buf) line = { 0 };
    const char *excerpt = json_get_text(risk, "excerpt");
    if (buf_addf(&line, e, "  ") || add_place(risk, &line, e) || buf_addf(&line, e, "  ") ||
        add_text(&line, json_get_text(risk, "why"), e) ||
        (*excerpt && (buf_addf(&line, e, ": ") || add_text(&line, excerpt, e))))
        return -1;
    (void)printf("%s\n", buf_str(&line));
    return 0;
}

static int print_risks(const json_t *risks, struct err *e)
{
    json_t *risk;
    size_t i;
    if (json_array_size(risks) == 0) {
        (void)printf("risks: none of the known words\n");
        return 0;
    }
    (void)printf("risks: %zu to look at\n", json_array_size(risks));
    json_array_foreach(risks, i, risk)
        if (print_risk(risk, e))
            return -1;
    return 0;
}

static int print_text(const json_t *result, struct err *e)
{
    const json_t *check = json_object_get(result, "checks");
    json_t *language;
    size_t i;
    json_array_foreach(json_object_get(check, "languages"), i, language)
        if (print_language(language, e))
            return -1;
    if (json_is_true(json_object_get(check, "cut")))
        (void)printf("more problems are left out\n");
    if (check && print_risks(json_object_get(check, "risks"), e))
        return -1;
    return fflush(stdout) == EOF || ferror(stdout)
               ? err_set(e, ERR_KERNEL, errno, "write the report")
               : 0;
}

/* ---- the end ---- */

static int end_stopped(const json_t *result, struct err *e)
{
    const char *error = json_get_text(result, "error"), *verdict = json_get_text(result, "verdict");
    scoped(buf) words = { 0 };
    if (*error && add_text(&words, error, e))
        return -1;
    (void)fprintf(stderr, "belljar: %s: the check was ended before its end%s%s\n", verdict,
                  *error ? ": " : "; --timeout, --memory and the other limits give it more",
                  buf_str(&words));
    json_int_t status = json_integer_value(json_object_get(result, "exit_code"));
    return status > 0 && status < 256 ? (int)status : err_exit_status(ERR_PROTOCOL);
}

/* The languages whose syntax nothing here can check: "sqlite, r". */
static int add_unchecked(const json_t *check, struct buf *out, struct err *e)
{
    json_t *language;
    size_t i;
    json_array_foreach(json_object_get(check, "languages"), i, language) {
        enum check_state state = state_of(json_object_get(language, check_steps[CHECK_SYNTAX]));
        if (state == CHECK_OK || state == CHECK_FAILED)
            continue;
        if ((out->len > 0 && buf_addf(out, e, ", ")) ||
            add_text(out, json_get_text(language, "language"), e))
            return -1;
    }
    return 0;
}

static int end(const json_t *result, struct err *e)
{
    const json_t *check = json_object_get(result, "checks");
    const char *outcome = json_get_text(result, "outcome");
    scoped(buf) unchecked = { 0 };
    if (strcmp(outcome, "passed") == 0)
        return 0;
    if (strcmp(outcome, "failed") == 0)
        return CHECK_FOUND;
    if (strcmp(outcome, "stopped") == 0)
        return end_stopped(result, e);
    if (add_unchecked(check, &unchecked, e))
        return -1;
    if (unchecked.len > 0)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the syntax of %s was not checked: the reason is above",
                       buf_str(&unchecked));
    return err_set(e, ERR_UNAVAILABLE, 0,
                   "a tool did not get to its end: 'belljar check --json' has its output");
}

int check_print(int fd, const struct check_report_options *o, struct err *e)
{
    scoped(buf) text = { 0 };
    if (fd_read_to_buf(fd, RESULT_MAX, &text, e))
        return -1;
    if (text.len == 0) /* the run has said why */
        return REPORTED_NO_RESULT;
    json_auto_t *result = json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);
    if (!json_is_object(result))
        return err_set(e, ERR_PROTOCOL, 0, "the result of the check is not JSON");
    if (!o->json && print_text(result, e))
        return -1;
    if (o->json && (json_dumpf(result, stdout, JSON_INDENT(2) | JSON_DIGITS) < 0 ||
                    putchar('\n') == EOF || fflush(stdout) == EOF))
        return err_set(e, ERR_KERNEL, errno, "write the report");
    return end(result, e);
}
