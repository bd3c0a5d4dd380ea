#include "examiner/examiner.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "examiner/reader.h"
#include "examiner/warm.h"

/* A reader, and our copy of its socket: it tells when the keeper has closed the other end. */
struct slot {
    pid_t pid;
    int pidfd, fd;
};

struct examiner {
    int control_fd;
    pid_t pid;
    struct diagnoser *diagnoser;
    struct slot slots[EXAMINER_READERS];
};

static int socket_pair(int fds[2], struct err *e)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return err_set(e, ERR_KERNEL, errno, "make the socket of a reader");
    return 0;
}

/* ---- the examiner ---- */

static void pause_for(unsigned ms)
{
    const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
    (void)nanosleep(&pause, NULL);
}

/* Every failure here is a lack of memory or descriptors of the machine. */
static int start_reader(struct examiner *x, struct slot *s)
{
    struct err e;
    int fds[2];
    if (socket_pair(fds, &e))
        return -1;
    autoclose int theirs = fds[0], ours = fds[1];
    pid_t pid = fork();
    if (pid == 0)
        reader_run(ours, x->pid, x->diagnoser);
    int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    char byte = 0;
    struct iovec part = { &byte, 1 };
    if (pidfd < 0 || fd_send(x->control_fd, &part, 1, &theirs, 1, 0) != 1) {
        if (pid > 0) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
        }
        fd_close(&pidfd);
        return -1;
    }
    *s = (struct slot){ .pid = pid, .pidfd = pidfd, .fd = fd_take(&ours) };
    return 0;
}

static void end_reader(struct slot *s)
{
    int status = 0;
    (void)kill(s->pid, SIGKILL); /* our child, not reaped: the number is still its own */
    (void)waitpid(s->pid, &status, 0);
    fd_close(&s->pidfd);
    fd_close(&s->fd);
    s->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == READER_UNCONFINED)
        pause_for(100); /* the next one will hardly fare better */
}

/* Waits until the keeper or a reader has ended. */
static void wait_for_an_end(struct examiner *x)
{
    struct pollfd p[1 + 2 * EXAMINER_READERS] = { { .fd = x->control_fd, .events = POLLIN } };
    bool complete = true;
    for (int i = 0; i < EXAMINER_READERS; i++) {
        const struct slot *s = &x->slots[i];
        complete = complete && s->pid;
        p[1 + 2 * i] = (struct pollfd){ .fd = s->pid ? s->pidfd : -1, .events = POLLIN };
        p[2 + 2 * i] = (struct pollfd){ .fd = s->pid ? s->fd : -1 }; /* only the hang-up */
    }
    if (poll(p, sizeof p / sizeof p[0], complete ? -1 : 100) < 0 && errno != EINTR)
        _exit(1);
    if (p[0].revents) { /* the keeper sends nothing: it is gone */
        for (int i = 0; i < EXAMINER_READERS; i++)
            if (x->slots[i].pid)
                end_reader(&x->slots[i]);
        _exit(0);
    }
    for (int i = 0; i < EXAMINER_READERS; i++)
        if (x->slots[i].pid && (p[1 + 2 * i].revents || p[2 + 2 * i].revents))
            end_reader(&x->slots[i]);
}

/* One value of each type. */
static const char sample_report[] =
    "{\"tables\":[{\"columns\":[{\"name\":\"a\",\"type\":\"text\"}],\"row_count\":4,"
    "\"truncated\":false,\"rows\":[[\"x\\u00e9\"],[1.5],[null],[{\"base64\":\"AA==\"}]]}],"
    "\"profile\":{\"sampled_ms\":5,\"samples\":5,\"lines\":[{\"file\":\"main.py\",\"line\":3,"
    "\"self_ms\":4,\"text\":\"x\"}]},"
    "\"displays\":[{\"data\":{\"text/plain\":\"x\"},\"metadata\":{},\"cut\":true}]}";

[[gnu::noreturn]] static void examiner_run(int control_fd, pid_t parent)
{
    struct examiner x = { .control_fd = control_fd, .pid = getpid() };
    struct err e;
    (void)prctl(PR_SET_NAME, "belljar-exam", 0, 0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent ||
        fd_keep_only(&control_fd, 1, &e) || diagnoser_new(&x.diagnoser, &e))
        _exit(1);
    json_object_seed(0); /* a reader cannot open /dev/urandom */
    warm_diagnoser(x.diagnoser);
    reader_rehearse(x.diagnoser, sample_report);
    for (;;) {
        for (int i = 0; i < EXAMINER_READERS; i++)
            if (!x.slots[i].pid && start_reader(&x, &x.slots[i]))
                break;
        wait_for_an_end(&x);
    }
}

/* ---- the restarter ---- */

/* Its end: exit status 0, when the keeper is gone. */
static int examiner_end(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 0;
    return status;
}

[[gnu::noreturn]] static void restarter_run(int control_fd, pid_t keeper)
{
    enum { FIRST_MS = 100, MOST_MS = 5000, HEALTHY_MS = 30000 };
    struct err e;
    pid_t self = getpid();
    (void)prctl(PR_SET_NAME, "belljar-restart", 0, 0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != keeper ||
        fd_keep_only(&control_fd, 1, &e))
        _exit(1);
    for (unsigned delay_ms = 0;;) {
        uint64_t begun_ms = clock_ms();
        pid_t pid = fork();
        if (pid == 0)
            examiner_run(control_fd, self);
        int status = pid > 0 ? examiner_end(pid) : -1;
        if (status == 0)
            _exit(0);
        if (clock_ms() - begun_ms >= HEALTHY_MS)
            delay_ms = 0;
        log_event(LOG_ERROR, "examiner.restarts", "after_ms=%u status=%d", delay_ms, status);
        pause_for(delay_ms);
        delay_ms = delay_ms == 0 ? FIRST_MS : delay_ms * 2 < MOST_MS ? delay_ms * 2 : MOST_MS;
    }
}

/* ---- the keeper ---- */

int examiner_start(int *ret_fd, struct err *e)
{
    int fds[2];
    pid_t keeper = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return err_set(e, ERR_KERNEL, errno, "make the socket of the examiner");
    autoclose int ours = fds[0], theirs = fds[1];
    pid_t pid = fork();
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "start the examiner");
    if (pid == 0)
        restarter_run(theirs, keeper);
    if (fd_set_nonblock(ours, e))
        return -1;
    *ret_fd = fd_take(&ours);
    return 0;
}

int examiner_next_reader(int fd)
{
    char byte;
    struct err e;
    struct iovec part = { &byte, 1 };
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return EXAMINER_NONE_NOW;
    if (n == 1 && (m.msg_flags & MSG_CTRUNC) && m.msg_controllen == 0)
        return EXAMINER_NO_DESCRIPTOR; /* the kernel has closed it */
    const struct cmsghdr *h = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
    if (!h || h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS ||
        h->cmsg_len != CMSG_LEN(sizeof(int)))
        return EXAMINER_GONE;
    autoclose int reader = -1;
    memcpy(&reader, CMSG_DATA(h), sizeof reader);
    return fd_set_nonblock(reader, &e) ? EXAMINER_GONE : fd_take(&reader);
}

int examiner_one_reader(int *ret_fd, struct err *e)
{
    int fds[2];
    pid_t keeper = getpid();
    if (socket_pair(fds, e))
        return -1;
    autoclose int ours = fds[0], theirs = fds[1];
    pid_t pid = fork();
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "start a reader");
    if (pid == 0)
        reader_run(theirs, keeper, NULL);
    if (fd_set_nonblock(ours, e))
        return -1;
    *ret_fd = fd_take(&ours);
    return 0;
}
