#include "cli/commands/service_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/auto.h"
#include "cli/cli.h"
#include "cli/run/remote.h"
#include "client/client.h"

/* A setup, a wake or a fork may take as long as its limits allow. */
enum { ANSWER_MS = 600000, ANSWER_MAX = 16 << 20 };
enum { AGAIN_MS = 300, EXIT_LOST = 120 };

int service_line_open(const struct service_choice *s, struct client **ret, struct err *e)
{
    int rc = remote_connect(s, ret, e);
    if (rc == REMOTE_NONE)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "no service is running: start one with 'belljar serve', or name another "
                       "with --service URL");
    return rc || service_choice_drop_root(s, e) ? -1 : 0;
}

int service_line_take(const struct client *c, json_t **ret, struct err *e)
{
    size_t len;
    if (client_response(c)->status / 100 != 2)
        return service_refusal(c, e);
    const char *bytes = client_body(c, &len);
    *ret = json_loadb(bytes, len, 0, NULL);
    return *ret ? 0 : err_set(e, ERR_PROTOCOL, 0, "the service sent no JSON");
}

int service_line_ask(struct client *c, const char *method, const char *path, json_t *body,
                     json_t **ret, struct err *e)
{
    autofree char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    bool failed = body && !text;
    json_decref(body);
    if (failed)
        return err_no_memory(e, "a request to the service");
    const struct client_request q = { .method = method,
                                      .path = path,
                                      .json = text,
                                      .json_len = text ? strlen(text) : 0,
                                      .body_max = ANSWER_MAX };
    return client_ask(c, &q, ANSWER_MS, e) || service_line_take(c, ret, e) ? -1 : 0;
}

/* The exit status of the child. */
static int work_once(const struct service_choice *s, service_work *work, void *context, bool again)
{
    struct client *c = NULL;
    struct err e = { 0 };
    bool open = service_line_open(s, &c, &e) == 0;
    int rc = open ? work(c, context, &e) : -1;
    client_done(&c);
    if (rc == 0)
        return 0;
    return e.code == ERR_UNAVAILABLE && (open || again) ? EXIT_LOST : cli_fail(&e);
}

static int wait_for_child(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int service_follow(const struct service_choice *s, service_work *work, void *context, struct err *e)
{
    struct termios terminal;
    bool has_terminal = tcgetattr(STDIN_FILENO, &terminal) == 0;
    for (bool again = false;; again = true) {
        (void)fflush(NULL);
        pid_t parent = getpid(), child = fork();
        if (child < 0)
            return err_set(e, ERR_KERNEL, errno, "fork");
        if (child == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
            int status = getppid() == parent ? work_once(s, work, context, again) : 1;
            (void)fflush(NULL);
            _exit(status);
        }
        int status = wait_for_child(child);
        if (has_terminal)
            (void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
        if (status != EXIT_LOST)
            return status;
        if (!again)
            (void)fprintf(stderr, "%sbelljar: the service is gone; waiting for the next one\n",
                          has_terminal ? "\n" : "");
        (void)usleep(AGAIN_MS * 1000);
    }
}
