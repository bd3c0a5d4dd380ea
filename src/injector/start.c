#include "injector/start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "base/place.h"
#include "base/process.h"
#include "injector/injector.h"

#define VARIABLE "BELLJAR_SECRET_"
enum { START_MS = 30000 };

static int keep_variable(int fd, char *entry)
{
    struct iovec parts[] = { { entry + strlen(VARIABLE), strlen(entry + strlen(VARIABLE)) },
                             { (char *)"\n", 1 } };
    ssize_t n = writev(fd, parts, 2);
    return n == (ssize_t)(parts[0].iov_len + 1) ? 0 : -1;
}

int injector_take_environment(int *ret_fd, struct err *e)
{
    autoclose int fd = -1;
    for (char **entry = environ; entry && *entry;) {
        size_t n = strcspn(*entry, "=");
        if (strncmp(*entry, VARIABLE, strlen(VARIABLE)) != 0 || !(*entry)[n]) {
            entry++;
            continue;
        }
        if (fd < 0)
            fd = memfd_create("belljar-secrets", MFD_CLOEXEC);
        if (strchr(*entry, '\n'))
            return err_set(e, ERR_BAD_REQUEST, 0, "the variable %.*s has more than one line",
                           (int)(n < 80 ? n : 80), *entry);
        if (fd < 0 || keep_variable(fd, *entry))
            return err_set(e, ERR_KERNEL, errno, "keep the secrets of the environment");
        /* Forks and /proc would show it. The name goes first: unsetenv() needs it. */
        char *value = *entry + n + 1, name[300];
        explicit_bzero(value, strlen(value));
        (void)snprintf(name, sizeof name, "%.*s", (int)n, *entry);
        if (n >= sizeof name || unsetenv(name) < 0)
            return err_set(e, ERR_BAD_REQUEST, 0, "a variable %s has too long a name", VARIABLE);
        entry = environ; /* it has moved up */
    }
    *ret_fd = fd_take(&fd);
    return 0;
}

static int open_file(const char *path, int *ret_fd, struct err *e)
{
    struct stat st;
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open the file of secrets %s", path);
    if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) || st.st_mode & 077)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the file of secrets %s must be a regular file of its operator that nobody "
                       "else may read: chmod 600 %s",
                       path, path);
    *ret_fd = fd_take(&fd);
    return 0;
}

int injector_check_file(const char *path, struct err *e)
{
    autoclose int fd = -1;
    return open_file(path, &fd, e);
}

/* The descriptors of the new program have fixed numbers. Between fork and execve nothing is freed. */
_Noreturn static void become(const char *path, const int fds[INJECTOR_FDS], uid_t uid)
{
    int high[INJECTOR_FDS];
    char text[16];
    char *const argv[] = { (char *)INJECTOR_PROGRAM, text, NULL };
    const char *store = getenv("SSL_CERT_FILE");
    char variable[4200] = "";
    if (store)
        (void)snprintf(variable, sizeof variable, "SSL_CERT_FILE=%s", store);
    char *const envp[] = { variable[0] ? variable : NULL, NULL };
    (void)snprintf(text, sizeof text, "%u", uid);
    for (int i = 0; i < INJECTOR_FDS; i++) {
        high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, INJECTOR_FIRST_FD + INJECTOR_FDS);
        if (high[i] < 0)
            _exit(1);
    }
    for (int i = 0; i < INJECTOR_FDS; i++)
        if (dup2(high[i], INJECTOR_FIRST_FD + i) < 0)
            _exit(1);
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execve(path, argv, envp);
    _exit(1);
}

static int await_word(int fd, struct err *e)
{
    struct err said = { 0 };
    struct pollfd p = { .fd = fd, .events = POLLIN };
    int ready;
    do
        ready = poll(&p, 1, START_MS);
    while (ready < 0 && errno == EINTR);
    ssize_t n = ready > 0 ? recv(fd, &said, sizeof said, MSG_DONTWAIT) : -1;
    if (n != (ssize_t)sizeof said)
        return err_set(e, ERR_UNAVAILABLE, 0, "the process that holds the secrets did not start");
    said.text[sizeof said.text - 1] = '\0';
    if (said.text[0] == '\0')
        return 0;
    *e = said;
    return -1;
}

int injector_start(const struct injector_setup *s, struct injector_process *ret, struct err *e)
{
    char path[4096];
    int ends[2];
    autoclose int file = -1, grants = -1, null = process_open_null(e);
    struct buf text = { .data = (char *)s->grants, .len = strlen(s->grants) };
    if (null < 0 || place_find(INJECTOR_PROGRAM, path, sizeof path, e) ||
        (s->file && s->file[0] && open_file(s->file, &file, e)) ||
        fd_sealed_memory("belljar-grants", &text, &grants, e))
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_set(e, ERR_KERNEL, errno, "make the socket of the injector");
    autoclose int ours = ends[0], theirs = ends[1];
    const int fds[INJECTOR_FDS] = { [INJECTOR_CONTROL] = theirs,
                                    [INJECTOR_GRANTS] = grants,
                                    [INJECTOR_ENVIRONMENT] = s->environment_fd >= 0
                                                                 ? s->environment_fd
                                                                 : null,
                                    [INJECTOR_FILE] = file >= 0 ? file : null };
    pid_t pid = fork();
    if (pid == 0)
        become(path, fds, s->uid);
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "start the injector");
    fd_close(&theirs);
    struct injector_process made = { .pid = pid, .fd = fd_take(&ours) };
    if (await_word(made.fd, e)) {
        injector_stop(&made);
        return -1;
    }
    *ret = made;
    return 0;
}

void injector_stop(struct injector_process *p)
{
    fd_close(&p->fd);
    if (p->pid > 0) {
        (void)kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    p->pid = 0;
}
