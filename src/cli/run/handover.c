/* main, while the keeper works: passes input and signals on, and saves files at the end. */
#include "cli/run/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/cli.h"
#include "spec/bundle.h"

/* Typed input comes through a pipe, while we are in the foreground: cli/run/terminal.h. */
static int hide_terminal(struct err *e)
{
    return isatty(0) ? process_null_fds(1, e) : 0;
}

int handover_fork(struct handover *ret, struct err *e)
{
    int fds[2];
    if (fd_pipe(fds, e))
        return -1;
    autoclose int read_end = fds[0], write_end = fds[1];
    pid_t keeper = fork();
    if (keeper < 0)
        return err_set(e, ERR_KERNEL, errno, "start the keeper");
    if (keeper == 0 && hide_terminal(e))
        _exit(cli_fail(e));
    *ret = (struct handover){ keeper, fd_take(keeper == 0 ? &write_end : &read_end) };
    return 0;
}

/* main polls the bundle of the keeper, a signal, and these. */
enum {
    POLL_TERMINAL = 2,
    POLL_CACHE = POLL_TERMINAL + TERMINAL_POLLS,
    POLLS = POLL_CACHE + CACHE_POLLS
};

/* Collects the bundle of the keeper until its end, and passes signals on. */
static int await_keeper(const struct handover *h, struct terminal *terminal,
                        struct program_cache *cache, struct buf *ret_bundle, struct err *e)
{
    sigset_t set;
    cli_signals(&set);
    autoclose int signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0)
        return err_set(e, ERR_KERNEL, errno, "watch signals");
    for (;;) {
        struct pollfd p[POLLS] = { { .fd = h->fd, .events = POLLIN },
                                   { .fd = signal_fd, .events = POLLIN } };
        int timeout_ms = terminal_polls(terminal, p + POLL_TERMINAL);
        program_cache_polls(cache, p + POLL_CACHE);
        if (poll(p, POLLS, timeout_ms) < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for the keeper");
        struct signalfd_siginfo info;
        if (p[1].revents && read(signal_fd, &info, sizeof info) == sizeof info)
            (void)kill(h->keeper, (int)info.ssi_signo); /* not reaped yet, so the pid is its own */
        terminal_ready(terminal, p + POLL_TERMINAL);
        program_cache_ready(cache, p + POLL_CACHE);
        if (!p[0].revents)
            continue;
        if (buf_reserve(ret_bundle, 1 << 16, e))
            return -1;
        ssize_t n = read(h->fd, ret_bundle->data + ret_bundle->len, 1 << 16);
        if (n < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "read from the keeper");
        if (n == 0)
            break;
        if (n < 0)
            continue;
        ret_bundle->len += (size_t)n;
        if (ret_bundle->len > BUNDLE_STREAM_MAX)
            return err_set(
                e, ERR_PROTOCOL, 0,
                "the keeper handed over more than %llu bytes: ask for fewer files with --out",
                (unsigned long long)BUNDLE_STREAM_MAX);
    }
    siginfo_t info = { 0 };
    if (waitid(P_PID, (id_t)h->keeper, &info, WEXITED | WNOWAIT) <
        0) /* handover_finish() reaps it */
        return err_set(e, ERR_KERNEL, errno, "wait for the keeper");
    if (info.si_code != CLD_EXITED)
        return err_set(
            e, ERR_UNAVAILABLE, 0,
            "the keeper died (%s): run the command again; the kernel log may tell the reason",
            strsignal(info.si_status));
    return info.si_status;
}

static int save_one(const char *path, const struct bundle_entry *entry, struct err *e)
{
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || fd_write_all(fd, entry->bytes, entry->head.size)) {
        return err_set(e, ERR_KERNEL, errno, "save '%s'", QUOTED(path));
    }
    return 0;
}

/* The bundle has the outputs in the order of the options (HANDOVER-1). */
static int save_outputs(const struct run_arguments *o, const struct buf *bundle, bool *ret_lost,
                        struct err *e)
{
    size_t pos = 0;
    if (bundle->len == 0) /* the run ended before its outputs, and the reason is printed */
        return 0;
    for (size_t i = 0; i < o->n_outs; i++) {
        struct bundle_entry entry;
        bool more;
        const char *name = o->outs[i].name;
        if (bundle_next_output(bundle, &pos, &entry, &more, e))
            return -1;
        if (!more || entry.head.name_len != strlen(name) ||
            memcmp(entry.name, name, strlen(name)) != 0)
            return err_set(e, ERR_PROTOCOL, 0,
                           "the keeper handed over files that were not requested");
        enum output_status status = (enum output_status)entry.head.status;
        *ret_lost = *ret_lost || status != OUTPUT_OK;
        if (status != OUTPUT_OK)
            (void)fprintf(stderr, "belljar: '%s' is not saved: %s\n", QUOTED(name),
                          output_status_why(status));
        else if (save_one(o->outs[i].host, &entry, e))
            return -1;
    }
    return 0;
}

int handover_finish(struct handover *h, const struct run_arguments *o, struct terminal *terminal,
                    struct program_cache *cache, struct err *e)
{
    scoped(buf) bundle = { 0 };
    int status = await_keeper(h, terminal, cache, &bundle, e);
    if (status < 0)
        (void)kill(h->keeper, SIGKILL); /* otherwise it may live on, and the jar with it */
    (void)waitpid(h->keeper, NULL, 0);
    program_cache_finish(cache);
    fd_close(&h->fd);
    bool lost = false;
    if (status >= 0 && save_outputs(o, &bundle, &lost, e))
        return -1;
    /* A script must notice that a file which it asked for is not there. */
    return status == 0 && lost ? err_exit_status(ERR_NOT_FOUND) : status;
}
