#include "cli/batch/repeat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/batch/program.h"
#include "cli/batch/repeat_view.h"
#include "cli/confined.h"
#include "cli/progress.h"
#include "cli/run/own_service.h"
#include "cli/run/remote_request.h"
#include "run/json.h"

enum { STDIN_MAX = 4 << 20 };

void repeat_done(struct repeat *r)
{
    for (int i = 0; i < REPEAT_PROGRAMS; i++)
        free(r->requests[i]);
}

/* ---- the request ---- */

static int put_stdin(json_t *run, const char *path, struct err *e)
{
    scoped(buf) bytes = { 0 };
    const char *encoding;
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || fd_read_to_buf(fd, STDIN_MAX, &bytes, e))
        return fd < 0 ? err_set(e, ERR_NOT_FOUND, errno, "stdin '%s'", QUOTED(path)) : -1;
    json_put(run, "stdin", remote_request_bytes(buf_str(&bytes), bytes.len, &encoding));
    json_put(run, "stdin_encoding", json_string(encoding));
    return 0;
}

int repeat_request(const struct run_arguments *o, char **ret, struct err *e)
{
    json_auto_t *run = program_request(o, e);
    if (!run || put_stdin(run, o->stdin_file, e))
        return -1;
    json_put(run, "cancel_on_disconnect", json_true());
    *ret = json_dumps(run, JSON_COMPACT);
    return *ret ? 0 : err_no_memory(e, "a request to the service");
}

/* ---- the runs ---- */

struct repeat_job {
    const struct repeat *r;
    struct progress progress;
};

static size_t n_programs(const struct repeat *r)
{
    return r->names[1] ? 2 : 1;
}

static int ask_one(struct client *c, const struct repeat *r, size_t program, json_t **ret,
                   struct err *e)
{
    const char *request = r->requests[program];
    return program_ask(c, r->are_runs ? request : "/v1/runs", r->are_runs ? NULL : request, ret, e);
}

/* In turn, so that a machine that is busy for a while is so for both. The first run of each program is
 * not counted: it may compile, or start cold. */
static int measure(struct client *c, struct repeat_job *j, json_t *results[], struct err *e)
{
    const struct repeat *r = j->r;
    size_t n = n_programs(r), uncounted = r->times > 1 ? n : 0;
    size_t total = r->times * n + uncounted;
    for (size_t i = 0; i < total; i++) {
        json_auto_t *result = NULL;
        progress_update(&j->progress, i, total, NULL);
        if (ask_one(c, r, i % n, &result, e))
            return -1;
        if (i >= uncounted && json_array_append(results[i % n], result))
            return err_no_memory(e, "the results");
    }
    progress_clear(&j->progress);
    return 0;
}

static int repeat_work(struct client *c, void *context, struct err *e)
{
    struct repeat_job *j = context;
    json_t *results[REPEAT_PROGRAMS] = { json_array(), json_array() };
    int rc = measure(c, j, results, e);
    if (rc == 0)
        rc = repeat_show(j->r, results, e);
    for (int i = 0; i < REPEAT_PROGRAMS; i++)
        json_decref(results[i]);
    return rc;
}

int repeat_run(struct repeat *r, struct run_arguments *o, struct err *e)
{
    scoped(own_service) own = { 0 };
    scoped(confined) x = CONFINED_INIT;
    /* Warm and cold starts would mix while the pools of a new service fill. */
    static const char *const cold[] = { "pools.max=0", NULL };
    struct repeat_job job = { .r = r };
    if (own_service_find(&own, o, cold, &x, e))
        return -1;
    if (r->are_runs && x.service.directory[0])
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "no service is running, and '%s' is a run of one: start it with 'belljar "
                       "serve', or name another with --service URL",
                       QUOTED(r->names[0]));
    progress_begin(&job.progress, STDERR_FILENO, r->names[1] ? "compare" : "bench");
    return confined_run(&x, repeat_work, &job, e);
}

/* ---- run --bench ---- */

static int check_options(const struct run_arguments *o, struct err *e)
{
    const char *option = o->n_outs                               ? "--out"
                         : o->template                           ? "--template"
                         : o->strict                             ? "--strict"
                         : o->allow_private                      ? "--allow-private"
                         : o->level != LEVEL_AUTO                ? "--isolation"
                         : strcmp(o->file, "-") == 0 && !o->code ? "a program on stdin"
                                                                 : NULL;
    return option ? err_set(e, ERR_USAGE, 0,
                            "--bench and %s cannot be used together: --bench repeats a program in "
                            "a service",
                            option)
                  : 0;
}

int repeat_bench(struct run_arguments *o, struct err *e)
{
    scoped(repeat)
        r = { .names = { o->code ? "-c" : o->file }, .times = o->bench, .json = o->json };
    if (check_options(o, e))
        return -1;
    if (!o->stdin_file)
        o->stdin_file = "/dev/null";
    return repeat_request(o, &r.requests[0], e) ? -1 : repeat_run(&r, o, e);
}
