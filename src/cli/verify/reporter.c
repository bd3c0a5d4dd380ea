#include "cli/verify/reporter.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "cli/cli.h"
#include "cli/verify/report.h"
#include "run/json.h"
#include "run/privileges.h"

/* Before the texts of a run, on the pipe from main. */
struct record {
    size_t check;
    size_t len[POOL_STREAMS];
};

/* ---- the reporter ---- */

struct desk {
    struct checks *all;
    const struct reporter_options *options;
    struct text_report text;
    size_t told; /* the next check to report */
};

/* Judges and reports in the order of the list. */
static void tell(struct desk *d)
{
    for (; d->told < d->all->n; d->told++) {
        struct check *c = &d->all->at[d->told];
        if (c->outcome == OUTCOME_PENDING && !c->result)
            return;
        if (c->outcome == OUTCOME_PENDING)
            check_judge(c, program_before(d->all, c));
        if (!d->options->json)
            report_check(&d->text, c);
    }
}

static int read_text(int fd, size_t len, struct buf *ret, struct err *e)
{
    if (buf_reserve(ret, len, e))
        return -1;
    if (fd_read_full(fd, ret->data, len) != (ssize_t)len)
        return err_set(e, ERR_PROTOCOL, 0, "read a result");
    ret->len = len;
    ret->data[len] = '\0';
    return 0;
}

/* 1: a record was read; 0: there are no more; -1: failure. */
static int read_record(struct desk *d, int fd, struct err *e)
{
    struct record r;
    scoped(buf) result = { 0 }, message = { 0 };
    ssize_t n = fd_read_full(fd, &r, sizeof r);
    if (n == 0)
        return 0;
    if (n != sizeof r || r.check >= d->all->n)
        return err_set(e, ERR_PROTOCOL, 0, "read a result");
    if (read_text(fd, r.len[0], &result, e) || read_text(fd, r.len[1], &message, e))
        return -1;
    check_take(&d->all->at[r.check], buf_str(&result), result.len, buf_str(&message));
    return 1;
}

static int write_reports(struct desk *d, uint64_t took_ms, struct err *e)
{
    const struct reporter_options *o = d->options;
    scoped(buf) junit = { 0 };
    if (!o->json) {
        report_totals(&d->text, took_ms);
    } else {
        json_auto_t *report = report_json(d->all, took_ms);
        if (!report || json_dumpf(report, stdout, JSON_INDENT(2) | JSON_DIGITS) < 0 ||
            putchar('\n') == EOF || fflush(stdout) == EOF)
            return err_set(e, ERR_KERNEL, errno, "write the report");
    }
    if (ferror(stdout))
        return err_set(e, ERR_KERNEL, 0, "the report could not be written");
    if (o->junit_fd < 0)
        return 0;
    if (junit_make(d->all, took_ms, &junit, e))
        return -1;
    if (fd_write_all(o->junit_fd, buf_str(&junit), junit.len))
        return err_set(e, ERR_KERNEL, errno, "write the report of --junit");
    return 0;
}

/* The exit status of the command. */
static int report(struct desk *d, int fd, struct err *e)
{
    uint64_t start = clock_ms();
    int more;
    do {
        tell(d);
        more = read_record(d, fd, e);
    } while (more > 0);
    if (more < 0 || write_reports(d, clock_ms() - start, e))
        return -1;
    struct totals t = totals_of(d->all);
    if (t.n[OUTCOME_PENDING])
        return VERIFY_CANCELLED;
    return totals_are_good(&t) ? 0 : VERIFY_FAILED;
}

[[gnu::noreturn]]
static void be_reporter(struct desk *d, int fd, pid_t parent, uid_t uid)
{
    struct err e;
    const int keep[] = { fd, d->options->junit_fd };
    int status = -1;
    if (fd_keep_only(keep, ARRAY_LEN(keep), &e) == 0 && privileges_drop(parent, uid, &e) == 0 &&
        privileges_confine(ROLE_COMMAND_KEEPER, NULL, &e) == 0)
        status = report(d, fd, &e);
    _exit(status < 0 ? cli_fail(&e) : status);
}

/* ---- main's side ---- */

int reporter_start(struct reporter *r, struct checks *all, const struct reporter_options *o,
                   struct err *e)
{
    struct desk d = { .all = all,
                      .options = o,
                      .text = { all, o->verbose, isatty(1) && !getenv("NO_COLOR") } };
    int fds[2];
    if (keeper_uid_for_command(&r->uid, e) || fd_pipe(fds, e))
        return -1;
    autoclose int reading = fds[0];
    r->fd = fds[1];
    (void)signal(SIGPIPE, SIG_IGN); /* a reporter that died is an error of write(2) */
    pid_t us = getpid();
    (void)fflush(stdout);
    r->pid = fork();
    if (r->pid == 0) {
        fd_close(&r->fd);
        be_reporter(&d, reading, us, r->uid.lock_fd >= 0 ? r->uid.uid : geteuid());
    }
    return r->pid < 0 ? err_set(e, ERR_KERNEL, errno, "start the report") : 0;
}

int reporter_send(void *arg, size_t check, const struct buf texts[POOL_STREAMS], struct err *e)
{
    const struct reporter *r = arg;
    const struct record head = { check, { texts[0].len, texts[1].len } };
    if (fd_write_all(r->fd, &head, sizeof head) ||
        fd_write_all(r->fd, buf_str(&texts[0]), texts[0].len) ||
        fd_write_all(r->fd, buf_str(&texts[1]), texts[1].len))
        return err_set(e, ERR_UNAVAILABLE, errno, "the process that writes the report is gone");
    return 0;
}

int reporter_finish(struct reporter *r, struct err *e)
{
    int status;
    fd_close(&r->fd);
    while (waitpid(r->pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for the report");
    r->pid = 0;
    if (!WIFEXITED(status))
        return err_set(e, ERR_UNAVAILABLE, 0, "the process that writes the report died (signal %d)",
                       WTERMSIG(status));
    return WEXITSTATUS(status);
}

void reporter_done(struct reporter *r)
{
    fd_close(&r->fd);
    if (r->pid > 0)
        (void)waitpid(r->pid, NULL, 0);
    keeper_uid_done(&r->uid);
}
