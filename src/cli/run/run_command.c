/* `belljar run`: reads the files of the caller, has a running service or a warden of its own run
 * them, and saves the outputs. This process has the identity of the caller, so it never parses
 * bytes from the program; it only copies output files, under names that the caller chose. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "allowlist/allowlist.h"
#include "base/auto.h"
#include "base/id.h"
#include "base/text.h"
#include "cli/batch/repeat.h"
#include "cli/cli.h"
#include "cli/confined.h"
#include "cli/repl/notebook.h"
#include "cli/repl/repl.h"
#include "cli/run/handover.h"
#include "cli/run/inputs.h"
#include "cli/run/program_cache.h"
#include "cli/run/project.h"
#include "cli/run/remote.h"
#include "cli/run/remote_request.h"
#include "cli/run/run_arguments.h"
#include "cli/run/run_command.h"
#include "cli/run/run_keeper.h"
#include "cli/run/run_network.h"
#include "cli/run/run_porter.h"
#include "cli/run/stage_options.h"
#include "cli/run/stage_run.h"
#include "run/keeper_uid.h"
#include "run/level.h"
#include "runtime/language.h"
#include "runtime/version.h"

void run_block_signals(void)
{
    sigset_t set;
    cli_signals(&set);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Runs the keeper of a warden that is up. Exit status, or -1. */
static int supervise(const struct run_arguments *o, struct inputs *in, struct warden *w,
                     struct run_porter *porter, struct err *e)
{
    char id[ID_SIZE];
    struct handover h;
    id_make("run_", id);
    scoped(version_probe) version = VERSION_PROBE_INIT;
    if (o->json)
        version_probe_start(&version,
                            in->language); /* in parallel with the run, so that it costs no time */
    scoped(program_cache) cache;
    scoped(keeper_uid) uid = KEEPER_UID_INIT;
    program_cache_open(&cache, o, in, w->isolation.level);
    pid_t self = getpid();
    if (keeper_uid_for_command(&uid, e) || handover_fork(&h, e))
        return -1;
    if (h.keeper == 0) {
        struct run_keeper_job job = { .options = o,
                                      .inputs = in,
                                      .warden = w,
                                      .cache = &cache,
                                      .id = id,
                                      .uid = uid.uid,
                                      .parent = self,
                                      .version_fd = version.fd,
                                      .handover_fd = h.fd,
                                      .porter_fd = porter->keeper_fd };
        _exit(run_keeper_run(&job));
    }
    fd_close(&porter->keeper_fd);
    fd_close(&w->fd); /* only the keeper has it: the warden notices its death */
    program_cache_forked(&cache);
    return handover_finish(&h, o, &in->terminal, &cache, e);
}

/* --strict: every limit must hold for the whole run. */
static int check_limits(const struct run_arguments *o, const struct warden *w, struct err *e)
{
    char names[200] = "";
    if (!o->strict || !w->isolation.unenforced)
        return 0;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        size_t used = strlen(names);
        if (w->isolation.unenforced & LIMIT_BIT(i))
            (void)snprintf(names + used, sizeof names - used, "%s--%s", used ? ", " : "",
                           limit_defs[i].option);
    }
    return err_set(e, ERR_UNAVAILABLE, 0,
                   "level %s does not enforce %s here: 'belljar doctor' says how to change that",
                   level_name(w->isolation.level), names);
}

/* Runs with a warden and a keeper of our own. Exit status, or -1. */
static int run_here(const struct run_arguments *o, struct inputs *in, struct err *e)
{
    struct warden w;
    scoped(run_porter) porter = RUN_PORTER_INIT;
    if (run_porter_start(&porter, o, e) || level_open_warden(o->level, NULL, o->mount_roots, &w, e))
        return -1;
    int status = check_limits(o, &w, e) ? -1 : supervise(o, in, &w, &porter, e);
    warden_stop(&w);
    return status;
}

/* A notebook runs in a session: each cell sees the variables of the cells before it. */
static int run_notebook(const struct run_arguments *o, struct err *e)
{
    const struct repl_notebook job = { .path = o->file,
                                       .language = o->language,
                                       .limits = o->limits,
                                       .given = o->limits_given,
                                       .allow_net = o->allow_net,
                                       .service = &o->service,
                                       .local = o->local };
    if (o->args[0] || o->n_files || o->n_outs || o->json || o->template || o->stdin_file ||
        o->mounts)
        return err_set(e, ERR_USAGE, 0,
                       "a notebook takes limits, -l, --allow-net and --local; 'belljar repl' has "
                       "':files' for files");
    return repl_run_notebook(&job, e);
}

/* Tries need a service. */
static int find_service(struct run_arguments *o, struct confined *x, struct err *e)
{
    const char *here = o->strict                ? "--strict"
                       : o->mounts              ? "--mount"
                       : o->allow_private       ? "--allow-private"
                       : o->level != LEVEL_AUTO ? "--isolation"
                                                : NULL;
    if (here)
        return err_set(e, ERR_USAGE, 0,
                       "--fix and %s cannot be used together: a service tries the suggestions, and "
                       "%s runs the program without one",
                       here, here);
    x->service.network = o->allow_net || o->full_network;
    if (confined_find(x, &o->service, o->local, e))
        return -1;
    o->service = x->at;
    o->local = false;
    return 0;
}

int run_program(struct run_arguments *o, struct err *e)
{
    scoped(confined) x = CONFINED_INIT;
    scoped(inputs) in = INPUTS_INIT;
    const char *field;
    if (inputs_load(&in, o, e))
        return -1;
    if (o->run_options.allow_commands &&
        (allowlist_possible(in.language, NULL, o->writable_root, e) ||
         allowlist_check(o->run_options.allow_commands, e)))
        return -1;
    if (language_takes(in.language, &o->run_options, &field, e))
        return -1;
    if (o->run_options.fixes != FIXES_NONE && find_service(o, &x, e))
        return -1;
    run_block_signals(); /* from here on, a signal must not skip the clean-up */
    int status = remote_run(o, &in, e);
    if (status == REMOTE_NONE && o->template && !remote_request_possible(o, &in))
        return err_set(
            e, ERR_USAGE, 0,
            "a run from template '%s' is sent to a service, so its arguments, variables and "
            "names of files must be UTF-8 text, and its files have at most 20 MiB in all",
            QUOTED(o->template));
    if (status == REMOTE_NONE && o->template)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "template '%s' belongs to a service, and none is used here: start one with "
                       "'belljar serve', and give neither --local nor --isolation",
                       QUOTED(o->template));
    if (status != REMOTE_NONE)
        return status;
    return run_network_take(o, e) ? -1 : run_here(o, &in, e);
}

static int run(void *options, int argc, char **argv, struct err *e)
{
    struct run_arguments *o = options;
    if (stage_options_given(o))
        return stage_run(o, argc, argv, e);
    if (run_arguments_take(o, argc, argv, e))
        return -1;
    if (!o->code && notebook_is(o->file))
        return run_notebook(o, e);
    if (project_open(o, e))
        return -1;
    return o->bench ? repeat_bench(o, e) : run_program(o, e);
}

static void done(void *options)
{
    run_arguments_done(options);
}

const struct cli_command run_command = {
    .name = "run",
    .summary = "run a program in a jar of its own",
    .usage = (const char *const[]){ "[OPTION]... FILE [ARG]... [-- ARG...]",
                                    "[OPTION]... -c CODE [ARG]...",
                                    "[OPTION]... [FILE]... --stage [NAME=]COMMAND...",
                                    "[OPTION]... [FILE]... --stages FILE", NULL },
    .description =
        "Runs a program in a sealed jar. FILE is the program, a Markdown file that "
        "contains it, a directory with a main program, or a notebook; - is standard "
        "input. The word 'run' may be left out. If a service of yours or of root runs on "
        "this machine, it runs the program; otherwise belljar does so itself.\n\n"
        "With --stage or --stages, several programs run one after the other in one jar, each with "
        "its verdict, its limits and its expected exit status. The FILEs are in the jar. No "
        "process "
        "of a stage meets the next one. The run is ok if every stage passed.\n\n"
        "SIZE is a number of bytes such as 64k, 256m or 1g. DUR is a time such as "
        "500ms, 10s or 2m.",
    .more_rows = run_arguments_rows,
    .max_operands = ARGS_OPERANDS_ANY,
    .values.kind = VALUES_FILE,
    .exits_by_verdict = true,
    .examples = (const char *const[]){ "Run a Python program with 5 seconds and 128 MiB:",
                                       "belljar run --timeout 5s --memory 128m hello.py",
                                       "Run a line of Python:", "belljar -c 'print(6 * 7)'",
                                       "Run a program from standard input, with arguments:",
                                       "echo 'print(1)' | belljar run -l python - -- one two",
                                       "Pass a file in, and save a file that the program wrote:",
                                       "belljar run --file data.csv --out chart.png plot.py",
                                       "Build a program and test it in the same jar:",
                                       "belljar run a.c --stage 'gcc -Wall a.c' --stage ./a.out",
                                       NULL },
    .arguments_follow = true,
    .options_size = sizeof(struct run_arguments),
    .init = run_arguments_init,
    .done = done,
    .run = run,
};
