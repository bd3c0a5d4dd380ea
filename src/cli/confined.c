#include "cli/confined.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "cli/cli.h"
#include "cli/run/remote.h"
#include "run/keeper_uid.h"
#include "run/privileges.h"

enum { CANCELLED = 130, LINE_MAX_BYTES = 64 << 20, SILENCE_MS = 3600000 };

void confined_done(struct confined *x)
{
    private_service_done(&x->service);
}

int confined_find(struct confined *x, const struct service_choice *s, bool local, struct err *e)
{
    struct client *c = NULL;
    if (service_choice_check(s, e))
        return -1;
    if (local && s->url)
        return err_set(e, ERR_USAGE, 0, "--service and --local contradict each other: give one");
    int rc = local ? REMOTE_NONE : remote_connect(s, &c, e);
    client_done(&c);
    x->at = *s;
    if (rc != REMOTE_NONE)
        return rc;
    if (s->state && !local)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "no service is running in '%s': without --state, a private one is started",
                       s->state);
    if (private_service_start(&x->service, e))
        return -1;
    x->at = (struct service_choice){ .state = x->service.state };
    return 0;
}

[[gnu::noreturn]]
static void be_child(struct client *c, pid_t parent, uid_t uid, confined_work *work, void *context)
{
    struct err e = { 0 };
    const int keep[] = { client_fd(c) };
    int status = -1;
    if (fd_keep_only(keep, ARRAY_LEN(keep), &e) == 0 && privileges_drop(parent, uid, &e) == 0 &&
        privileges_confine(ROLE_CLIENT_KEEPER, NULL, &e) == 0)
        status = work(c, context, &e);
    (void)fflush(stdout);
    if (status < 0)
        status = cli_fail(&e);
    _exit(status);
}

/* The child has no terminal, so that a signal of it comes here. */
static int wait_for(pid_t child, const sigset_t *signals)
{
    siginfo_t info;
    int status = 0;
    for (;;) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (sigwaitinfo(signals, &info) < 0 || info.si_signo == SIGCHLD)
            continue;
        (void)kill(child, SIGKILL); /* the service cancels its runs */
        (void)waitpid(child, &status, 0);
        (void)fprintf(stderr, "belljar: cancelled\n");
        return CANCELLED;
    }
}

int confined_run(const struct confined *x, confined_work *work, void *context, struct err *e)
{
    scoped(keeper_uid) uid = KEEPER_UID_INIT;
    struct client *c = NULL;
    sigset_t signals, before;
    int rc = remote_connect(&x->at, &c, e);
    if (rc)
        return rc == REMOTE_NONE ? err_set(e, ERR_UNAVAILABLE, 0, "the service has ended") : -1;
    cli_signals(&signals);
    sigaddset(&signals, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &signals, &before) < 0 || keeper_uid_for_command(&uid, e)) {
        client_done(&c);
        return -1;
    }
    (void)fflush(NULL);
    pid_t us = getpid(), child = fork();
    if (child == 0)
        be_child(c, us, uid.lock_fd >= 0 ? uid.uid : geteuid(), work, context);
    client_done(&c); /* only the child has it: the service notices its death */
    rc = child < 0 ? err_set(e, ERR_KERNEL, errno, "start the process that talks to the service")
                   : wait_for(child, &signals);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int confined_lines(struct client *c, const char *path, const char *json, confined_on_line *on_line,
                   void *context, struct err *e)
{
    const struct client_response *r = client_response(c);
    const struct client_request q = { .method = "POST",
                                      .path = path,
                                      .accept = "application/x-ndjson",
                                      .json = json,
                                      .json_len = strlen(json),
                                      .body_max = LINE_MAX_BYTES };
    const char *line;
    size_t len;
    if (client_send(c, &q, e))
        return -1;
    for (;;) {
        while (r->status / 100 == 2 && client_line(c, &line, &len))
            if (len > 0 && on_line(context, line, len, e))
                return -1;
        if (r->complete)
            return r->status / 100 == 2 ? 0 : service_refusal(c, e);
        struct pollfd p = { .fd = client_fd(c), .events = client_events(c, true) };
        int n = poll(&p, 1, SILENCE_MS);
        if (n == 0 || (n < 0 && errno != EINTR))
            return err_set(e, ERR_UNAVAILABLE, n < 0 ? errno : 0, "the service does not answer");
        if (n > 0 && client_ready(c, p.revents, e))
            return -1;
    }
}
