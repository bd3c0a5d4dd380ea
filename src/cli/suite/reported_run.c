#include "cli/suite/reported_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "cli/cli.h"
#include "cli/run/run_command.h"
#include "run/keeper_uid.h"
#include "run/privileges.h"
#include "spec/bundle.h"

struct limits reported_limits(uint64_t wall_ms)
{
    struct limits l = compile_limits_default();
    l.v[LIMIT_WALL_MS] = l.v[LIMIT_CPU_MS] = wall_ms;
    l.v[LIMIT_OUTPUT] = limits_default().v[LIMIT_OUTPUT];
    return l;
}

int reported_file_add(struct run_arguments *run, const char *path, const char *name, struct err *e)
{
    struct file_pair *grown = realloc(run->files, (run->n_files + 1) * sizeof *grown);
    if (!grown)
        return err_no_memory(e, "the files");
    run->files = grown;
    struct file_pair *added = &grown[run->n_files++];
    *added = (struct file_pair){ strdup(path), strdup(name) };
    if (!added->host || !added->name)
        return err_no_memory(e, "the files");
    return bundle_name_check(name, strlen(name), e);
}

static int set_limit(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct run_arguments *run = options;
    enum limit_id id = (enum limit_id)((const struct limit_def *)row->def - limit_defs);
    run->limits_given |= LIMIT_BIT(id);
    return limit_parse(id, value, &run->limits, e);
}

size_t reported_limit_rows(const struct limits *defaults, struct arg_row *out)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        out[i] = (struct arg_row){ .name = d->option,
                                   .metavar = d->metavar,
                                   .help = d->help,
                                   .group = "Limits",
                                   .apply = set_limit,
                                   .def = d };
        (void)unit_format(d->unit, defaults->v[i], out[i].default_text, sizeof out[i].default_text);
    }
    return LIMIT_COUNT;
}

[[gnu::noreturn]]
static void be_run(const struct reported_run *r, int out, pid_t parent)
{
    struct err e = { 0 };
    int status = -1;
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent || dup2(out, 1) != 1)
        _exit(err_exit_status(ERR_KERNEL));
    (void)close(out);
    status = run_program(r->run, &e);
    (void)fflush(stdout);
    _exit(status < 0 ? cli_fail(&e) : status);
}

[[gnu::noreturn]]
static void be_reporter(const struct reported_run *r, int in, pid_t parent, uid_t uid)
{
    struct err e;
    const int keep[] = { in, r->keep_fd };
    int status = -1;
    if (fd_keep_only(keep, ARRAY_LEN(keep), &e) == 0 && privileges_drop(parent, uid, &e) == 0 &&
        privileges_confine(ROLE_COMMAND_KEEPER, NULL, &e) == 0)
        status = r->report(in, r->options, &e);
    _exit(status < 0 ? cli_fail(&e) : status);
}

static int wait_for(pid_t pid, int *ret, struct err *e)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for the run");
    if (!WIFEXITED(status))
        return err_set(e, ERR_UNAVAILABLE, 0, "a process of the run died (signal %d)",
                       WTERMSIG(status));
    *ret = WEXITSTATUS(status);
    return 0;
}

int reported_run(const struct reported_run *r, struct err *e)
{
    scoped(keeper_uid) uid = KEEPER_UID_INIT;
    sigset_t ending;
    int fds[2], run_status = 0, status = 0;
    if (keeper_uid_for_command(&uid, e) || fd_pipe(fds, e))
        return -1;
    autoclose int in = fds[0], out = fds[1];
    pid_t us = getpid();
    (void)fflush(stdout);
    pid_t reporter = fork();
    if (reporter == 0) {
        fd_close(&out);
        be_reporter(r, in, us, uid.lock_fd >= 0 ? uid.uid : geteuid());
    }
    pid_t run = reporter > 0 ? fork() : -1;
    if (run == 0) {
        fd_close(&in);
        be_run(r, fd_take(&out), us);
    }
    fd_close(&out);
    if (reporter < 0 || run < 0)
        return err_set(e, ERR_KERNEL, errno, "start the run");
    cli_signals(&ending); /* the run ends by them, and then so do we */
    (void)sigprocmask(SIG_BLOCK, &ending, NULL);
    if (wait_for(run, &run_status, e) || wait_for(reporter, &status, e))
        return -1;
    return status == REPORTED_NO_RESULT ? run_status : status;
}
