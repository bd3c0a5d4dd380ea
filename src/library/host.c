/* The private service of a handle: `belljar serve --lifeline` as a child of this process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/tree.h"
#include "config.h"
#include "library/library.h"

enum { START_MS = 60000, STOP_MS = 60000, LOG_BYTES = 1 << 16, LIFELINE_FD = 3 };

/* Variables that would change the service, and are meant for the service of the machine. */
static const char *const not_passed[] = { "BELLJAR_STATE=", "OUTPUT_DATA_PATH=", "SANDBOX_HOST=",
                                          "SANDBOX_PORT=", "DEBUG=" };

static char **make_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **list = calloc(n + 1, sizeof *list);
    for (size_t i = 0; list && i < n; i++) {
        bool passed = true;
        for (size_t k = 0; k < ARRAY_LEN(not_passed); k++)
            passed = passed && strncmp(environ[i], not_passed[k], strlen(not_passed[k])) != 0;
        if (passed)
            list[kept++] = environ[i];
    }
    return list;
}

static const char **make_arguments(const struct belljar_options *o, const char *program)
{
    size_t n_settings = 0, n = 0;
    while (o->settings && o->settings[n_settings])
        n_settings++;
    const char **list = calloc(2 * n_settings + 16, sizeof *list);
    if (!list)
        return NULL;
    list[n++] = program;
    list[n++] = "serve";
    list[n++] = "--lifeline";
    list[n++] = "3";
    if (o->state_dir) {
        list[n++] = "--state";
        list[n++] = o->state_dir;
    }
    /* An interpreter is booted when it is first needed: a program may never need it. */
    list[n++] = "--set";
    list[n++] = "pools.preload=used";
    for (size_t i = 0; i < n_settings; i++) {
        list[n++] = "--set";
        list[n++] = o->settings[i];
    }
    return list;
}

/* The place for the log. Without a file of the caller it is memory of a fixed size: the first
 * lines tell why a service did not start, and later ones are dropped. */
static int open_log(const struct belljar_options *o, int *ret, struct belljar_error **error)
{
    autoclose int fd = o->log_path
                           ? open(o->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
                                  0600)
                           : memfd_create("belljar-log", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return library_fail(error, BELLJAR_ERROR_SYSTEM, "open the log '%s': %s",
                            QUOTED(o->log_path ? o->log_path : "in memory"),
                            strerrordesc_np(errno));
    if (!o->log_path && (ftruncate(fd, LOG_BYTES) < 0 ||
                         fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0))
        return library_fail(error, BELLJAR_ERROR_SYSTEM, "make the log: %s",
                            strerrordesc_np(errno));
    *ret = fd_take(&fd);
    return 0;
}

/* ---- the start ---- */

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, int log_fd,
                   int lifeline_fd)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, log_fd, 2);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, lifeline_fd, LIFELINE_FD);
    rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(actions, LIFELINE_FD + 1);
    rc = rc ? rc : posix_spawnattr_setsigmask(attr, &none);
    rc = rc ? rc : posix_spawnattr_setsigdefault(attr, &all);
    /* The keys of a terminal are meant for the program, which may want to go on. */
    return rc ? rc
              : posix_spawnattr_setflags(attr, (short)(POSIX_SPAWN_SETSIGMASK |
                                                       POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID));
}

/* 0, or a number of errno. */
static int spawn(pid_t *ret, const char *const *argv, char *const *environment, int log_fd,
                 int lifeline_fd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attr);
    if (rc == 0) {
        rc = prepare(&actions, &attr, log_fd, lifeline_fd);
        rc = rc ? rc : posix_spawn(ret, argv[0], &actions, &attr, (char *const *)argv, environment);
        (void)posix_spawnattr_destroy(&attr);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* The child gets descriptors by number, so these two must not stand where the child's will. */
static int move_up(int *fd)
{
    int moved = fcntl(*fd, F_DUPFD_CLOEXEC, LIFELINE_FD + 1);
    if (moved < 0)
        return -1;
    fd_close(fd);
    *fd = moved;
    return 0;
}

static int start_process(struct private_host *h, const struct belljar_options *o, int *log_fd,
                         struct belljar_error **error)
{
    const char *program = o->program ? o->program : BELLJAR_PROGRAM;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return library_fail(error, BELLJAR_ERROR_SYSTEM, "make a pair of sockets: %s",
                            strerrordesc_np(errno));
    h->lifeline_fd = pair[0];
    autoclose int theirs = pair[1];
    if (move_up(&theirs) || move_up(log_fd))
        return library_fail(error, BELLJAR_ERROR_SYSTEM, "make a descriptor: %s",
                            strerrordesc_np(errno));
    autofree char **environment = make_environment();
    autofree const char **argv = make_arguments(o, program);
    if (!environment || !argv)
        return library_fail_memory(error);
    int rc = spawn(&h->pid, argv, environment, *log_fd, theirs);
    if (rc) {
        h->pid = 0;
        return library_fail(error, BELLJAR_ERROR_UNAVAILABLE,
                            "start the program '%s': %s; belljar_options.program names another one",
                            QUOTED(program), strerrordesc_np(rc));
    }
    h->pid_fd = (int)syscall(SYS_pidfd_open, h->pid, 0);
    return 0;
}

/* The last line that the service wrote. */
static int refuse(const struct belljar_options *o, int log_fd, struct belljar_error **error)
{
    char text[LOG_BYTES + 1];
    ssize_t n = o->log_path ? 0 : pread(log_fd, text, LOG_BYTES, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *line = text_trim(text);
    const char *last = strrchr(line, '\n');
    line = last ? last + 1 : line;
    if (strncmp(line, "belljar: ", 9) == 0)
        line += 9;
    return library_fail(error, BELLJAR_ERROR_UNAVAILABLE, "the private service did not start: %s",
                        o->log_path ? "its log says why"
                        : *line     ? line
                                    : "it wrote no reason");
}

/* Reads "ready PATH\n". */
static int await_ready(struct private_host *h, const struct belljar_options *o, int log_fd,
                       struct belljar_error **error)
{
    static const char word[] = "ready ";
    char line[256] = "";
    size_t len = 0;
    uint64_t start = clock_ms();
    while (!memchr(line, '\n', len)) {
        struct pollfd p = { .fd = h->lifeline_fd, .events = POLLIN };
        uint64_t passed = clock_ms() - start;
        int n = passed >= START_MS ? 0 : poll(&p, 1, (int)(START_MS - passed));
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            return library_fail(error, BELLJAR_ERROR_UNAVAILABLE,
                                "the private service did not start within %d s", START_MS / 1000);
        ssize_t got = recv(h->lifeline_fd, line + len, sizeof line - 1 - len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return refuse(o, log_fd, error);
        len += (size_t)got;
    }
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, word, strlen(word)) != 0)
        return library_fail(error, BELLJAR_ERROR_PROTOCOL,
                            "the program that was started is no Belljar of this version");
    h->socket_path = strdup(line + strlen(word));
    return h->socket_path ? 0 : library_fail_memory(error);
}

int private_host_start(struct private_host *h, const struct belljar_options *o,
                       struct belljar_error **error)
{
    autoclose int log_fd = -1;
    h->temporary = !o->state_dir;
    return open_log(o, &log_fd, error) || start_process(h, o, &log_fd, error) ||
                   await_ready(h, o, log_fd, error)
               ? -1
               : 0;
}

/* ---- the end ---- */

/* True when the service is gone: it holds its end of the lifeline until then. */
static bool await_end(int fd, int ms)
{
    uint64_t start = clock_ms();
    for (;;) {
        char bytes[64];
        struct pollfd p = { .fd = fd, .events = POLLIN };
        uint64_t passed = clock_ms() - start;
        int n = passed >= (uint64_t)ms ? 0 : poll(&p, 1, (int)((uint64_t)ms - passed));
        if (n == 0)
            return false;
        ssize_t got = n > 0 ? recv(fd, bytes, sizeof bytes, 0) : 1;
        if (got == 0 || (got < 0 && errno != EINTR))
            return true;
    }
}

/* By its pidfd: if the program has reaped the child already, the pid may belong to another one. */
static void reap(const struct private_host *h)
{
    while (h->pid_fd >= 0 && waitid(P_PIDFD, (id_t)h->pid_fd, &(siginfo_t){ 0 }, WEXITED) < 0 &&
           errno == EINTR)
        ;
}

/* The service does this itself, unless it was killed. */
static void remove_state(const struct private_host *h)
{
    struct err e;
    char *slash = h->temporary && h->socket_path ? strrchr(h->socket_path, '/') : NULL;
    if (!slash)
        return;
    *slash = '\0';
    (void)!tree_remove(AT_FDCWD, h->socket_path, &e);
}

void private_host_done(struct private_host *h)
{
    if (h->lifeline_fd >= 0 && h->pid > 0) {
        (void)shutdown(h->lifeline_fd, SHUT_WR);
        if (!await_end(h->lifeline_fd, STOP_MS) && h->pid_fd >= 0)
            (void)syscall(SYS_pidfd_send_signal, h->pid_fd, SIGKILL, NULL, 0);
        reap(h);
        remove_state(h);
    }
    fd_close(&h->lifeline_fd);
    fd_close(&h->pid_fd);
    free(h->socket_path);
    h->socket_path = NULL;
    h->pid = 0;
}
