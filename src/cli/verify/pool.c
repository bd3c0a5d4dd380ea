#include "cli/verify/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/process.h"
#include "base/strv.h"
#include "base/text.h"
#include "cli/cli.h"

/* The JSON of a run has every byte of its output, a control character as six bytes. */
enum { RESULT_MAX = 256 << 20, MESSAGE_MAX = 64 << 10, STREAMS = POOL_STREAMS };

/* Much more output is a mistake, and is not compared. */
static const char output_default[] = "1m";

/* One `belljar run`. */
struct child {
    pid_t pid; /* 0: the place is free */
    size_t check;
    int fds[STREAMS];
    struct buf text[STREAMS];
};

struct pool {
    const struct checks *all;
    const struct pool_options *options;
    struct child *children;
    sigset_t old_mask;
    size_t next; /* the check to start */
    pool_on_end *on_end;
    void *arg;
    bool stopped;
};

/* ---- the command line ---- */

static int add(char ***argv, struct err *e, const char *word, const char *value)
{
    return strv_add(argv, word, e) || (value && strv_add(argv, value, e)) ? -1 : 0;
}

static int add_limits(char ***argv, const struct pool *p, const struct check *c, struct err *e)
{
    for (int i = 0; i < LIMIT_COUNT; i++) {
        char option[32];
        const char *value = c->words.limits[i] ? c->words.limits[i] : p->options->limits[i];
        if (!value && i == LIMIT_OUTPUT)
            value = output_default;
        (void)snprintf(option, sizeof option, "--%s", limit_defs[i].option);
        if (value && add(argv, e, option, value))
            return -1;
    }
    return 0;
}

/* Writes the program of a block into a file with the name that the language wants. */
static int write_program(const struct pool *p, const struct check *c, char *path, size_t size,
                         struct err *e)
{
    static const char run_the_arguments[] = "exec \"$@\"\n";
    scoped(buf) code = { 0 };
    char main_name[MAIN_NAME_SIZE];
    /* A shell begins its messages with the name of the script. */
    const char *name = c->kind == CHECK_CONSOLE ? c->language->name : ".belljar-verify.sh";
    bool command = c->kind == CHECK_COMMAND;
    if (command ? buf_add(&code, run_the_arguments, strlen(run_the_arguments), e)
                : program_make(p->all, c, &code, e))
        return -1;
    (void)snprintf(path, size, "%s/%zu", p->options->directory, (size_t)(c - p->all->at));
    if (mkdir(path, 0700) < 0)
        return err_set(e, ERR_KERNEL, errno, "make the directory '%s'", QUOTED(path));
    size_t used = strlen(path);
    if (!command && c->kind != CHECK_CONSOLE)
        name = language_main_name(c->language, buf_str(&code), code.len, main_name);
    (void)snprintf(path + used, size - used, "/%s", name);
    autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || fd_write_all(fd, buf_str(&code), code.len))
        return err_set(e, ERR_KERNEL, errno, "write '%s'", QUOTED(path));
    return 0;
}

static int make_command_line(const struct pool *p, const struct check *c, char ***argv,
                             struct err *e)
{
    char path[4096];
    if (c->kind == CHECK_FILE)
        (void)snprintf(path, sizeof path, "%s%s", *c->file == '-' ? "./" : "", c->file);
    else if (write_program(p, c, path, sizeof path, e))
        return -1;
    if (add(argv, e, "belljar", "run") || add(argv, e, "--json", NULL) ||
        add(argv, e, "--stdin", "/dev/null") || add_limits(argv, p, c, e))
        return -1;
    if ((p->options->local && add(argv, e, "--local", NULL)) ||
        (c->language && add(argv, e, "--language", c->language->name)))
        return -1;
    for (char **f = p->options->files; f && *f; f++)
        if (add(argv, e, "--file", *f))
            return -1;
    if (add(argv, e, path, NULL))
        return -1;
    if (c->kind == CHECK_COMMAND && add(argv, e, "--", NULL))
        return -1;
    for (char **word = p->options->command; c->kind == CHECK_COMMAND && *word; word++)
        if (add(argv, e, *word, NULL))
            return -1;
    return 0;
}

/* ---- processes ---- */

[[gnu::noreturn]]
static void become(char **argv, const int fds[STREAMS], pid_t parent, const sigset_t *mask)
{
    static const char failed[] = "belljar: the run could not be started\n";
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    /* A run does not outlive us, even if we are killed. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent && null >= 0 &&
        dup2(null, 0) == 0 && dup2(fds[0], 1) == 1 && dup2(fds[1], 2) == 2 &&
        sigprocmask(SIG_SETMASK, mask, NULL) == 0 && signal(SIGPIPE, SIG_DFL) != SIG_ERR)
        (void)execv("/proc/self/exe", argv);
    (void)!write(2, failed, sizeof failed - 1);
    _exit(125);
}

static int start(struct pool *p, struct child *k, size_t check, struct err *e)
{
    char **argv = NULL;
    int pipes[STREAMS][2] = { { -1, -1 }, { -1, -1 } };
    int rc = make_command_line(p, &p->all->at[check], &argv, e);
    for (int i = 0; rc == 0 && i < STREAMS; i++)
        rc = fd_pipe(pipes[i], e);
    pid_t us = getpid(), pid = rc ? -1 : fork();
    if (pid == 0)
        become(argv, (int[]){ pipes[0][1], pipes[1][1] }, us, &p->old_mask);
    if (rc == 0 && pid < 0)
        rc = err_set(e, ERR_KERNEL, errno, "start a run");
    *k = (struct child){ .pid = pid > 0 ? pid : 0, .check = check, .fds = { -1, -1 } };
    for (int i = 0; i < STREAMS; i++) {
        fd_close(&pipes[i][1]);
        k->fds[i] = rc == 0 ? fd_take(&pipes[i][0]) : -1;
        fd_close(&pipes[i][0]);
    }
    strv_free(argv);
    return rc;
}

static int finish(struct child *k, struct pool *p, struct err *e)
{
    int status, rc = 0;
    while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR)
        ;
    k->pid = 0;
    if (!p->stopped)
        rc = p->on_end(p->arg, k->check, k->text, e);
    for (int i = 0; i < STREAMS; i++)
        buf_done(&k->text[i]);
    return rc;
}

/* Reads a part. The pipe is closed at its end, or if the text is too long. */
static void read_some(struct child *k, int stream)
{
    struct buf *b = &k->text[stream];
    size_t max = stream == 0 ? RESULT_MAX : MESSAGE_MAX;
    struct err e;
    ssize_t n = -1;
    if (b->len < max && buf_reserve(b, 65536, &e) == 0)
        n = read(k->fds[stream], b->data + b->len, 65536);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        fd_close(&k->fds[stream]);
        return;
    }
    b->len += (size_t)n;
    b->data[b->len] = '\0';
}

/* ---- the loop ---- */

/* A run that cannot be started ends at once, with the reason as its message. */
static int refuse(struct pool *p, size_t check, const struct err *why, struct err *e)
{
    scoped(buf) message = { 0 };
    struct buf texts[STREAMS] = { 0 };
    if (buf_addf(&message, e, "%s\n", why->text))
        return -1;
    texts[1] = message;
    return p->on_end(p->arg, check, texts, e);
}

static int fill(struct pool *p, struct err *e)
{
    for (unsigned i = 0; i < p->options->jobs && !p->stopped; i++) {
        struct child *k = &p->children[i];
        while (k->pid == 0 && p->next < p->all->n) {
            size_t check = p->next++;
            struct err why;
            if (p->all->at[check].outcome == OUTCOME_PENDING && start(p, k, check, &why) &&
                refuse(p, check, &why, e))
                return -1;
        }
    }
    return 0;
}

static void stop(struct pool *p)
{
    p->stopped = true;
    for (unsigned i = 0; i < p->options->jobs; i++)
        if (p->children[i].pid > 0)
            (void)kill(p->children[i].pid, SIGTERM);
}

static bool is_idle(const struct pool *p)
{
    for (unsigned i = 0; i < p->options->jobs; i++)
        if (p->children[i].pid > 0)
            return false;
    return true;
}

static int wait_for_some(struct pool *p, struct pollfd *polls, int signal_fd, struct err *e)
{
    unsigned jobs = p->options->jobs;
    size_t streams = (size_t)jobs * STREAMS;
    int rc = 0;
    for (size_t i = 0; i < streams; i++)
        polls[i] = (struct pollfd){ p->children[i / STREAMS].fds[i % STREAMS], POLLIN, 0 };
    polls[streams] = (struct pollfd){ p->stopped ? -1 : signal_fd, POLLIN, 0 };
    if (poll(polls, streams + 1, -1) < 0)
        return errno == EINTR ? 0 : err_set(e, ERR_KERNEL, errno, "wait for the runs");
    if (polls[streams].revents)
        stop(p);
    for (size_t i = 0; i < streams; i++)
        if (polls[i].revents && polls[i].fd >= 0)
            read_some(&p->children[i / STREAMS], (int)(i % STREAMS));
    for (unsigned i = 0; i < jobs; i++) {
        struct child *k = &p->children[i];
        if (k->pid > 0 && k->fds[0] < 0 && k->fds[1] < 0)
            rc = finish(k, p, e) ? -1 : rc;
    }
    return rc;
}

int pool_run(const struct checks *all, const struct pool_options *o, pool_on_end *on_end, void *arg,
             struct err *e)
{
    sigset_t ending;
    autoclose int signal_fd = -1;
    autofree struct child *children = calloc(o->jobs, sizeof *children);
    autofree struct pollfd *polls = calloc((size_t)o->jobs * STREAMS + 1, sizeof *polls);
    struct pool p = {
        .all = all, .options = o, .children = children, .on_end = on_end, .arg = arg
    };
    if (!children || !polls)
        return err_no_memory(e, "the runs");
    for (unsigned i = 0; i < o->jobs; i++)
        children[i].fds[0] = children[i].fds[1] = -1;
    cli_signals(&ending);
    if (sigprocmask(SIG_BLOCK, NULL, &p.old_mask) < 0)
        return err_set(e, ERR_KERNEL, errno, "read the signal mask");
    if (process_watch_signals(&ending, &signal_fd, e))
        return -1;
    int rc = fill(&p, e);
    while (!is_idle(&p)) {
        struct err later; /* after a failure, the runs are ended and waited for */
        if (rc && !p.stopped)
            stop(&p);
        if (wait_for_some(&p, polls, signal_fd, rc ? &later : e) || fill(&p, rc ? &later : e))
            rc = -1;
    }
    return rc;
}
