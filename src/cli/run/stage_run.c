#include "cli/run/stage_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/run/inputs.h"
#include "cli/run/own_service.h"
#include "cli/run/project.h"
#include "cli/run/remote.h"
#include "cli/run/remote_request.h"
#include "cli/run/run_command.h"
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
    if (inputs_load_files(&in, o, e) || own_service_find(&own, o, NULL, &x, e))
        return -1;
    run_block_signals();
    int status = remote_run(o, &in, e);
    return status == REMOTE_NONE ? gone(o, &in, e) : status;
}
