/* `belljar batch`: one program on many inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "cli/batch/batch_inputs.h"
#include "cli/batch/batch_view.h"
#include "cli/batch/program.h"
#include "cli/cli.h"
#include "cli/confined.h"
#include "cli/run/own_service.h"
#include "run/json.h"

enum { JOBS_MAX = 1000, ALL_PASSED = 0, SOME_FAILED = 1 };

struct batch_options {
    struct run_arguments run; /* first: its rows have offsets into it */
    const char *compare;
    unsigned jobs;
    bool stop;
};

static const char *const compare_words[] = { "trim", "exact", "tokens" };

static const char *compare_at(const void *def, size_t i)
{
    (void)def;
    return i < ARRAY_LEN(compare_words) ? compare_words[i] : NULL;
}

static int set_compare(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(compare_words); i++)
        if (strcmp(value, compare_words[i]) == 0) {
            ((struct batch_options *)options)->compare = compare_words[i];
            return 0;
        }
    return err_set(e, ERR_USAGE, 0, "--%s '%s': trim, exact and tokens are accepted", row->name,
                   QUOTED(value));
}

static int set_jobs(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, JOBS_MAX, &((struct batch_options *)options)->jobs, e);
}

#define AT(member) offsetof(struct batch_options, member)
static const struct arg_row rows[] = {
    { "compare", "MODE", .apply = set_compare, .values = { VALUES_WORDS, compare_at },
      .shows_words = true, .default_text = "trim",
      .help = "how the output is compared with the expected one" },
    { "jobs", "N", .letter = 'j', .apply = set_jobs,
      .help = "runs at a time; half of the capacity of the service by default" },
    { "stop", .offset = AT(stop), .help = "end after the first failure" },
};
#undef AT

static size_t batch_rows(struct arg_row *out)
{
    memcpy(out, rows, sizeof rows);
    return ARRAY_LEN(rows) + program_rows(out + ARRAY_LEN(rows));
}

/* ---- the request ---- */

/* NULL on failure. */
static json_t *make_request(const struct batch_options *o, json_t *inputs, struct err *e)
{
    json_t *run = program_request(&o->run, e);
    json_t *body = run ? json_pack("{s:o, s:O, s:b, s:b, s:b}", "run", run, "inputs", inputs,
                                   "stop_on_failure", o->stop, "stream", !o->run.json,
                                   "cancel_on_disconnect", true)
                       : NULL;
    if (body && o->compare)
        json_put(body, "compare", json_string(o->compare));
    if (body && o->jobs)
        json_put(body, "parallel", json_integer(o->jobs));
    if (run && !body)
        (void)err_no_memory(e, "a request to the service");
    return body;
}

/* ---- the answer ---- */

struct batch_job {
    const char *body;
    bool json;
    struct batch_view view;
    json_t *summary;
};

static void batch_job_done(struct batch_job *j)
{
    batch_view_done(&j->view);
    json_decref(j->summary);
}

static int on_line(void *context, const char *line, size_t len, struct err *e)
{
    struct batch_job *j = context;
    json_auto_t *event = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
    const json_t *index = json_object_get(event, "index");
    const char *name = json_string_value(json_object_get(event, "event"));
    if (!name)
        return err_set(e, ERR_PROTOCOL, 0, "the service sent something that is not an event");
    if (strcmp(name, "result") == 0 && json_integer_value(index) >= 0)
        return batch_view_result(&j->view, (size_t)json_integer_value(index),
                                 json_object_get(event, "result"), e);
    if (strcmp(name, "done") == 0)
        j->summary = json_incref(json_object_get(event, "summary"));
    return 0;
}

static int status_of(const json_t *summary, struct err *e)
{
    const json_t *total = json_object_get(summary, "total"), *ok = json_object_get(summary, "ok");
    if (!json_is_integer(total) || !json_is_integer(ok))
        return err_set(e, ERR_PROTOCOL, 0, "the service ended its answer without a summary");
    return json_integer_value(total) == json_integer_value(ok) ? ALL_PASSED : SOME_FAILED;
}

static int show_table(struct client *c, struct batch_job *j, struct err *e)
{
    if (batch_view_begin(&j->view, e) || confined_lines(c, "/v1/batches", j->body, on_line, j, e))
        return -1;
    int status = status_of(j->summary, e);
    if (status >= 0)
        batch_view_summary(&j->view, j->summary);
    return status;
}

static int batch_work(struct client *c, void *context, struct err *e)
{
    struct batch_job *j = context;
    if (!j->json)
        return show_table(c, j, e);
    json_auto_t *answer = NULL;
    if (program_ask(c, "/v1/batches", j->body, &answer, e) || program_print(answer, e))
        return -1;
    return status_of(json_object_get(answer, "summary"), e);
}

/* ---- the command ---- */

static int read_inputs(json_t *inputs, int argc, char **argv, struct err *e)
{
    if (argc < 2)
        return err_set(
            e, ERR_USAGE, 0,
            "batch needs a program and its inputs: 'belljar batch PROGRAM INPUT...'; see "
            "'belljar batch --help'");
    for (int i = 1; i < argc; i++)
        if (batch_inputs_add(inputs, argv[i], e))
            return -1;
    return 0;
}

static int batch(void *options, int argc, char **argv, struct err *e)
{
    struct batch_options *o = options;
    scoped(own_service) own = { 0 };
    scoped(confined) x = CONFINED_INIT;
    scoped(batch_job) job = { 0 };
    json_auto_t *inputs = json_array();
    if (read_inputs(inputs, argc, argv, e) || program_take(&o->run, argv[0], argv + argc, e))
        return -1;
    json_auto_t *request = make_request(o, inputs, e);
    autofree char *body = request ? json_dumps(request, JSON_COMPACT) : NULL;
    if (!body)
        return request ? err_no_memory(e, "a request to the service") : -1;
    job.body = body;
    job.json = o->run.json;
    if (batch_view_init(&job.view, inputs, e) || own_service_find(&own, &o->run, NULL, &x, e))
        return -1;
    return confined_run(&x, batch_work, &job, e);
}

static void done(void *options)
{
    run_arguments_done(&((struct batch_options *)options)->run);
}

const struct cli_command batch_command = {
    .name = "batch",
    .summary = "run a program on many inputs, and compare its outputs",
    .usage = (const char *const[]){ "[OPTION]... PROGRAM INPUT... [-- ARG...]", NULL },
    .description =
        "Runs PROGRAM once for each input, several at a time, each in a jar of its own. An INPUT "
        "is "
        "a file, which becomes the standard input of the program; a directory with such files; or "
        "a JSON file with a list of {\"name\", \"stdin\", \"args\", \"expected\"}.\n\n"
        "The expected output of 1.in is in 1.out, 1.ans or 1.expected beside it. Of a directory "
        "that has files NAME.in, only these are inputs. A run without an expected output has to "
        "end well.\n\n"
        "On a terminal, the table fills while the runs end. Without a running service, belljar "
        "starts a private one and ends it with the batch.",
    .more_rows = batch_rows,
    .max_operands = ARGS_OPERANDS_ANY,
    .values.kind = VALUES_FILE,
    .statuses = (const char *const[]){ "0", "every run ended well, with the expected output", "1",
                                       "a run failed, or printed something else", "130",
                                       "cancelled", NULL },
    .examples = (const char *const[]){ "Judge a program by the files in tests (1.in, 1.out, ...):",
                                       "belljar batch solution.py tests", "The same, for a script:",
                                       "belljar batch --json solution.cpp tests/*.in", NULL },
    .arguments_follow = true,
    .options_size = sizeof(struct batch_options),
    .init = run_arguments_init,
    .done = done,
    .run = batch,
};
