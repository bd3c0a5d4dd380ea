/* `belljar run`: reads the caller's files, starts a warden and a keeper, and saves what comes back. This process keeps
 * the caller's identity and so never touches a byte that the program made, except to copy files by names that the
 * caller chose. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/keeper.h"
#include "cli/options.h"
#include "engine/link.h"
#include "runtime/version.h"
#include "spec/bundle.h"

/* Waits for the keeper, passing on what it hands over and the signals that we get on its behalf. */
static int await_keeper(pid_t keeper, int handover_fd, struct buf *ret_bundle, struct err *e)
{
    sigset_t set;
    cli_signals(&set);
    autoclose int signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0)
        return err_set(e, ERR_KERNEL, errno, "watch signals");
    for (;;) {
        struct pollfd p[2] = { { .fd = handover_fd, .events = POLLIN },
                               { .fd = signal_fd, .events = POLLIN } };
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for the keeper");
        struct signalfd_siginfo info;
        if (p[1].revents && read(signal_fd, &info, sizeof info) == sizeof info)
            (void)kill(keeper, (int)info.ssi_signo); /* unreaped, so the number is its own */
        if (!p[0].revents)
            continue;
        if (buf_reserve(ret_bundle, 1 << 16, e))
            return -1;
        ssize_t n = read(handover_fd, ret_bundle->data + ret_bundle->len, 1 << 16);
        if (n < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "read from the keeper");
        if (n == 0)
            break;
        if (n < 0)
            continue;
        ret_bundle->len += (size_t)n;
        if (ret_bundle->len > BUNDLE_STREAM_MAX)
            return err_set(e, ERR_PROTOCOL, 0, "the keeper handed over too much");
    }
    siginfo_t info = { 0 };
    if (waitid(P_PID, (id_t)keeper, &info, WEXITED | WNOWAIT) < 0) /* supervise() reaps it */
        return err_set(e, ERR_KERNEL, errno, "wait for the keeper");
    if (info.si_code != CLD_EXITED)
        return err_set(e, ERR_UNAVAILABLE, 0, "the keeper died: %s", strsignal(info.si_status));
    return info.si_status;
}

static int save_one(const char *path, const struct bundle_entry *entry, struct err *e)
{
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || fd_write_all(fd, entry->bytes, entry->head.size)) {
        char quoted[96];
        return err_set(e, ERR_KERNEL, errno, "save '%s'", text_quote(path, quoted, sizeof quoted));
    }
    return 0;
}

/* In the order they were asked for; the names in the bundle are only compared, the paths are the caller's. */
static int save_outputs(const struct run_options *o, const struct buf *bundle, struct err *e)
{
    size_t pos = 0;
    if (bundle->len == 0) /* the run did not come to its outputs, and has said why */
        return 0;
    for (size_t i = 0; i < o->n_outs; i++) {
        struct bundle_entry entry;
        bool more;
        char quoted[96];
        const char *name = o->outs[i].name;
        if (bundle_next(bundle, &pos, &entry, &more, e))
            return -1;
        if (!more || entry.head.name_len != strlen(name) ||
            memcmp(entry.name, name, strlen(name)) != 0)
            return err_set(e, ERR_PROTOCOL, 0, "the keeper handed over other files than asked for");
        enum output_status status = (enum output_status)entry.head.mode_or_status;
        if (status == OUTPUT_OK && save_one(o->outs[i].host, &entry, e))
            return -1;
        if (status != OUTPUT_OK)
            (void)fprintf(stderr, "belljar: '%s' is not fetched: %s\n",
                          text_quote(name, quoted, sizeof quoted), output_status_why(status));
    }
    return 0;
}

static void block_signals(void)
{
    sigset_t set;
    cli_signals(&set);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Exit status, or -1 with the error. The warden is started by now. */
static int supervise(const struct run_options *o, const struct inputs *in, struct warden *w,
                     struct err *e)
{
    uint64_t random;
    char id[32];
    int handover[2];
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return err_set(e, ERR_KERNEL, errno, "get random bytes");
    (void)snprintf(id, sizeof id, "run_%016" PRIx64, random);
    if (fd_pipe(handover, e))
        return -1;
    autoclose int handover_read = handover[0], handover_write = handover[1];
    auto(version_probe) version = VERSION_PROBE_INIT;
    if (o->json)
        version_probe_start(&version,
                            in->language); /* alongside the run, so that asking costs no time */
    pid_t self = getpid();
    pid_t keeper = fork();
    if (keeper < 0)
        return err_set(e, ERR_KERNEL, errno, "start the keeper");
    if (keeper == 0) {
        (void)close(handover_read);
        struct keeper_job job = { .options = o,
                                  .inputs = in,
                                  .warden = w,
                                  .id = id,
                                  .parent = self,
                                  .version_fd = version.fd,
                                  .handover_fd = handover_write };
        _exit(keeper_run(&job));
    }
    fd_close(&handover_write);
    fd_close(&w->fd); /* the keeper's alone: when it dies, the warden knows */
    auto(buf) bundle = { 0 };
    int status = await_keeper(keeper, handover_read, &bundle, e);
    if (status < 0)
        (void)kill(keeper, SIGKILL); /* it may live on, and with it the jar */
    (void)waitpid(keeper, NULL, 0);
    if (status >= 0 && save_outputs(o, &bundle, e))
        return -1;
    return status;
}

int cmd_run(int argc, char **argv)
{
    struct err e = { 0 };
    auto(run_options) o = { 0 };
    if (run_options_parse(&o, argc, argv, &e))
        return cli_fail(&e);
    if (o.help) {
        run_options_help();
        return 0;
    }
    auto(inputs) in = INPUTS_INIT;
    struct warden w;
    if (inputs_load(&in, &o, &e))
        return cli_fail(&e);
    block_signals(); /* from here on there is something to clean up */
    if (link_open(o.level, &w, &e))
        return cli_fail(&e);
    int status = supervise(&o, &in, &w, &e);
    warden_stop(&w);
    return status < 0 ? cli_fail(&e) : status;
}
