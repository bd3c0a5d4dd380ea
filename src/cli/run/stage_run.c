#include "cli/run/stage_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/confined.h"
#include "cli/repl/repl_mounts.h"
#include "cli/run/inputs.h"
#include "cli/run/project.h"
#include "cli/run/remote.h"
#include "cli/run/remote_request.h"
#include "cli/run/run_command.h"
#include "cli/run/run_network.h"
#include "cli/run/stage_options.h"
#include "run/json.h"

/* ---- the files ---- */

static int add_operand(struct run_arguments *o, const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return project_copy(o, path, NULL, NULL, e);
    if (strcmp(path, "-") == 0)
        return err_set(e, ERR_USAGE, 0,
                       "'-' is standard input, which every stage reads: name files for the jar, or "
                       "leave it out");
    return run_arguments_add_file(o, path, e);
}

/* ---- a private service ---- */

struct own_service {
    struct repl_mounts mounts; /* borrowed names, except `roots` */
    char **set;                /* NULL-terminated */
};

static void own_service_done(struct own_service *s)
{
    free(s->mounts.roots);
    strv_free(s->set);
}

/* The most of a limit that the command line asks for. The service refuses a value that is no
 * limit. */
static uint64_t wanted_limit(const struct run_arguments *o, int id)
{
    const struct limit_def *d = &limit_defs[id];
    uint64_t most = o->limits.v[id], value;
    const json_t *stage;
    size_t i;
    json_array_foreach(o->stages, i, stage) {
        const json_t *v = json_object_get(json_object_get(stage, "limits"), d->key);
        if (json_is_integer(v) && json_integer_value(v) > 0)
            value = (uint64_t)json_integer_value(v);
        else if (!json_is_string(v) || unit_parse(d->unit, json_string_value(v), &value))
            continue;
        most = value > most ? value : most;
    }
    return most < d->max ? most : d->max;
}

/* The caller is its operator: limits go as far as those of a run without a service. */
static int allow_limits(struct own_service *s, const struct run_arguments *o, struct err *e)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        uint64_t most = wanted_limit(o, i);
        char text[96], number[32];
        if (most <= d->service_max)
            continue;
        (void)snprintf(text, sizeof text, "limits.%s.max=%s", d->key,
                       unit_format(d->unit, most, number, sizeof number));
        if (strv_add(&s->set, text, e))
            return -1;
    }
    return 0;
}

static int allow_private(struct own_service *s, char *const *ranges, struct err *e)
{
    scoped(buf) text = { 0 };
    for (size_t i = 0; ranges && ranges[i]; i++)
        if (buf_addf(&text, e, "%s%s", i ? "," : "network.private=", ranges[i]))
            return -1;
    return text.len > 0 ? strv_add(&s->set, buf_str(&text), e) : 0;
}

static int own_service_settings(struct own_service *s, const struct run_arguments *o, struct err *e)
{
    char level[64];
    s->mounts = (struct repl_mounts){ .dirs = o->mount_roots,
                                      .names = o->mount_names,
                                      .secrets = o->mount_secrets };
    if (repl_mounts_allow(&s->mounts, e) || allow_limits(s, o, e) ||
        allow_private(s, o->allow_private, e))
        return -1;
    for (size_t i = 0; s->mounts.set[i]; i++)
        if (strv_add(&s->set, s->mounts.set[i], e))
            return -1;
    (void)snprintf(level, sizeof level, "runs.isolation=%s", level_name(o->level));
    return o->level == LEVEL_AUTO ? 0 : strv_add(&s->set, level, e);
}

static int find_service(struct run_arguments *o, struct confined *x, struct own_service *s,
                        struct err *e)
{
    const char *here = remote_option_of_here(o);
    if (here && o->service.url)
        return err_set(e, ERR_USAGE, 0,
                       "--service '%s' and %s contradict each other: %s uses a service of its own "
                       "for this run",
                       QUOTED(o->service.url), here, here);
    if (own_service_settings(s, o, e))
        return -1;
    x->service.network = run_network_wanted(o);
    x->service.set = (const char *const *)s->set;
    if (confined_find(x, &o->service, here != NULL, e))
        return -1;
    o->service = x->at;
    return 0;
}

/* ---- the run ---- */

static int gone(const struct run_arguments *o, const struct inputs *in, struct err *e)
{
    if (!remote_request_possible(o, in))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the run does not fit into a request: its files have more than 20 MiB, or a "
                       "name or variable is not UTF-8; --mount shows the stages a directory of any "
                       "size");
    return err_set(e, ERR_UNAVAILABLE, 0,
                   "the service ended before the first stage began: run the command again");
}

int stage_run(struct run_arguments *o, int argc, char **argv, struct err *e)
{
    scoped(own_service) own = { 0 };
    scoped(confined) x = CONFINED_INIT;
    scoped(inputs) in = INPUTS_INIT;
    if (argv[argc])
        return err_set(e, ERR_USAGE, 0,
                       "'--' is followed by arguments of a program, and a stage has its own: write "
                       "them into its command");
    o->file = "-";
    o->args = argv + argc;
    if (stage_options_settle(o, e) || run_arguments_settle(o, e))
        return -1;
    for (int i = 0; i < argc; i++)
        if (add_operand(o, argv[i], e))
            return -1;
    if (inputs_load_files(&in, o, e) || find_service(o, &x, &own, e))
        return -1;
    run_block_signals();
    int status = remote_run(o, &in, e);
    return status == REMOTE_NONE ? gone(o, &in, e) : status;
}
