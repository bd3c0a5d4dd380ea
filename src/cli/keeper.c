#include "cli/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "engine/drop.h"
#include "engine/run.h"

/* Pipes accept this much without blocking once poll() says that they are writable. */
enum { SAFE_WRITE = 4096 };

struct session {
    const struct keeper_job *job;
    struct run run;
    struct buf captured[RUN_STREAMS]; /* with --json */
    int signal_fd;
    int write_errno; /* why our own output could not be written */
    /* stdin on its way to the program */
    int source_fd; /* -1: at its end */
    size_t held, from;
    char bytes[16384];
};

static ssize_t pass_through(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct session *s = context;
    struct pollfd p = { .fd = stream == RUN_STDOUT ? 1 : 2, .events = POLLOUT };
    if (poll(&p, 1, 0) == 0)
        return 0;
    ssize_t w = write(p.fd, bytes, n < SAFE_WRITE ? n : SAFE_WRITE);
    if (w < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (w < 0)
        s->write_errno = errno;
    return w;
}

static ssize_t capture(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct session *s = context;
    struct err e;
    return buf_add(&s->captured[stream], bytes, n, &e) ? -1 : (ssize_t)n;
}

static void pump_stdin(struct session *s, const struct pollfd *source, const struct pollfd *sink)
{
    if (source->revents && s->held == 0) {
        ssize_t n = read(s->source_fd, s->bytes, sizeof s->bytes);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            s->source_fd = -1;
        s->from = 0;
        s->held = n > 0 ? (size_t)n : 0;
    }
    if (sink->revents && s->held > 0) {
        ssize_t n = write(s->run.stdin_fd, s->bytes + s->from, s->held);
        if (n < 0 && errno != EAGAIN && errno != EINTR) { /* the program does not read any more */
            s->held = 0;
            s->source_fd = -1;
        } else if (n > 0) {
            s->from += (size_t)n;
            s->held -= (size_t)n;
        }
    }
    if (s->source_fd < 0 && s->held == 0)
        fd_close(&s->run.stdin_fd);
}

/* What the loop waits for beyond the run's own descriptors. */
enum { POLL_SIGNAL = RUN_POLLS, POLL_SOURCE, POLL_STDIN, POLL_STDOUT, POLL_STDERR, POLLS };

static void fill_polls(const struct session *s, struct pollfd p[POLLS])
{
    const struct run *r = &s->run;
    run_polls(r, p);
    bool reading = r->stdin_fd >= 0 && s->held == 0;
    p[POLL_SIGNAL] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
    p[POLL_SOURCE] = (struct pollfd){ .fd = reading ? s->source_fd : -1, .events = POLLIN };
    p[POLL_STDIN] = (struct pollfd){ .fd = s->held ? r->stdin_fd : -1, .events = POLLOUT };
    for (int i = 0; i < RUN_STREAMS; i++)
        p[POLL_STDOUT + i] = (struct pollfd){ .fd = r->streams[i].held ? 1 + i : -1,
                                              .events = POLLOUT };
}

static int loop(struct session *s, struct err *e)
{
    while (!run_over(&s->run)) {
        struct pollfd p[POLLS];
        fill_polls(s, p);
        if (poll(p, POLLS, -1) < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for events");
        if (p[POLL_SIGNAL].revents) {
            struct signalfd_siginfo info;
            (void)!read(s->signal_fd, &info, sizeof info);
            if (run_cancel(&s->run, END_CANCEL, e))
                return -1;
        }
        if (run_ready(&s->run, p, e) || run_flush(&s->run, e))
            return -1;
        if (s->run.stdin_fd >= 0)
            pump_stdin(s, &p[POLL_SOURCE], &p[POLL_STDIN]);
    }
    return 0;
}

static int watch_signals(struct session *s, struct err *e)
{
    sigset_t set;
    cli_signals(&set);
    (void)signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return err_set(e, ERR_KERNEL, errno, "block signals");
    s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signal_fd < 0)
        return err_set(e, ERR_KERNEL, errno, "watch signals");
    return 0;
}

static int start(struct session *s, char **outputs, struct err *e)
{
    const struct keeper_job *job = s->job;
    const struct run_options *o = job->options;
    struct run_request request = {
        .id = 1,
        .language = job->inputs->language,
        .main_name = job->inputs->main_name,
        .args = o->args,
        .env = o->env,
        .outputs = outputs,
        .limits = o->limits,
        .writable_root = o->writable_root,
        .bundle_fd = job->inputs->bundle_fd,
    };
    return run_start(&s->run, job->warden->fd, &job->warden->isolation, &request,
                     o->json ? capture : pass_through, s, e);
}

static char **output_names(const struct run_options *o)
{
    char **names = calloc(o->n_outs + 1, sizeof *names);
    for (size_t i = 0; names && i < o->n_outs; i++)
        names[i] = o->outs[i].name;
    return names;
}

static int serve(struct session *s, struct err *e)
{
    const struct keeper_job *job = s->job;
    autofree char **outputs = output_names(job->options);
    if (!outputs)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory for a run");
    const int keep[] = { job->warden->fd, job->inputs->bundle_fd, job->inputs->stdin_fd,
                         job->version_fd, job->handover_fd };
    if (fd_keep_only(keep, sizeof keep / sizeof keep[0], e) ||
        drop_privileges(job->parent, job->warden->isolation.layers & LAYER_BIT(LAYER_OWN_UID), e) ||
        watch_signals(s, e) || start(s, outputs, e))
        return -1;
    if (loop(s, e)) {
        run_done(&s->run);
        return -1;
    }
    return 0;
}

/* The exit status, once the run is over and its result has been told. */
static int tell(struct session *s)
{
    const struct keeper_job *job = s->job;
    struct err e = { 0 };
    struct report report = {
        .job = job, .run = &s->run, .verdict = run_verdict(&s->run), .captured = s->captured
    };
    /* A reader that went away is no fault; a full disk is. */
    if (s->write_errno != 0 && s->write_errno != EPIPE) {
        (void)!err_set(&e, ERR_KERNEL, s->write_errno, "write the program's output");
        return cli_fail(&e);
    }
    if (!job->options->json)
        report_note(&report);
    else if (report_json(&report, &e))
        return cli_fail(&e);
    if (fd_write_all(job->handover_fd, s->run.outputs.data, s->run.outputs.len)) {
        (void)!err_set(&e, ERR_KERNEL, errno, "hand over the output files");
        return cli_fail(&e);
    }
    return verdict_exit_code(report.verdict, &s->run.end.evidence);
}

int keeper_run(const struct keeper_job *job)
{
    autofree struct session *s = calloc(1, sizeof *s);
    struct err e = { 0 };
    if (!s)
        return err_exit_status(ERR_NO_MEMORY);
    s->job = job;
    s->source_fd = job->inputs->stdin_fd;
    if (serve(s, &e))
        return cli_fail(&e);
    int status = tell(s);
    for (int i = 0; i < RUN_STREAMS; i++)
        buf_done(&s->captured[i]);
    run_done(&s->run);
    fd_close(&s->signal_fd);
    return status;
}
