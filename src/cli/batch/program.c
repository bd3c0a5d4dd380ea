#include "cli/batch/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "cli/repl/notebook.h"
#include "cli/run/inputs.h"
#include "cli/run/project.h"
#include "cli/run/remote_request.h"
#include "cli/service_choice.h"
#include "run/json.h"

enum { ANSWER_MS = 3600000 };
static const size_t answer_max = 256UL << 20;

/* Options of one run alone. */
static const char *const not_of_many[] = { "code",      "out",         "stdin",         "template",
                                           "isolation", "strict",      "allow-private", "profile",
                                           "display",   "bench",       "fix",           "stage",
                                           "stages",    "expect-exit", "stage-limit" };

static bool is_of_many(const struct arg_row *row)
{
    for (size_t i = 0; i < ARRAY_LEN(not_of_many); i++)
        if (strcmp(row->name, not_of_many[i]) == 0)
            return false;
    return true;
}

size_t program_rows(struct arg_row *out)
{
    struct arg_row all[ARGS_ROWS_MAX];
    size_t n = run_arguments_rows(all), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (is_of_many(&all[i]))
            out[kept++] = all[i];
    return kept;
}

int program_take(struct run_arguments *o, char *file, char **rest, struct err *e)
{
    o->file = file;
    o->stdin_file = "/dev/null"; /* the inputs come with the request */
    o->args = *rest ? rest + 1 : rest;
    if (notebook_is(file))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is a notebook: 'belljar run' runs its cells, and a program is needed "
                       "here",
                       QUOTED(file));
    return run_arguments_settle(o, e) || project_open(o, e) ? -1 : 0;
}

json_t *program_request(const struct run_arguments *o, struct err *e)
{
    scoped(inputs) in = INPUTS_INIT;
    const char *field;
    if (inputs_load(&in, o, e) || language_takes(in.language, &o->run_options, &field, e))
        return NULL;
    if (!remote_request_possible(o, &in)) {
        (void)err_set(e, ERR_BAD_REQUEST, 0,
                      "'%s' does not fit into a request: its files have more than 20 MiB, or a "
                      "name, argument or variable is not UTF-8",
                      QUOTED(o->file));
        return NULL;
    }
    return remote_request_object(o, &in, e);
}

int program_ask(struct client *c, const char *path, const char *body, json_t **ret, struct err *e)
{
    const struct client_request q = { .method = body ? "POST" : "GET",
                                      .path = path,
                                      .json = body,
                                      .json_len = body ? strlen(body) : 0,
                                      .body_max = answer_max };
    size_t len;
    if (client_ask(c, &q, ANSWER_MS, e))
        return -1;
    if (client_response(c)->status / 100 != 2)
        return service_refusal(c, e);
    const char *bytes = client_body(c, &len);
    *ret = json_loadb(bytes, len, JSON_ALLOW_NUL, NULL);
    return *ret ? 0 : err_set(e, ERR_PROTOCOL, 0, "the service sent no JSON");
}

int program_print(const json_t *o, struct err *e)
{
    if (json_dumpf(o, stdout, JSON_COMPACT | JSON_DIGITS) < 0 || putchar('\n') == EOF ||
        fflush(stdout) == EOF)
        return err_set(e, ERR_KERNEL, errno, "write the result");
    return 0;
}
