#include "jar/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "jar/as_owner.h"
#include "jar/clone.h"
#include "jar/jar.h"
#include "jar/netns.h"

enum {
    BLIND_US = 1000000,   /* between two counts of locks when the number of all is not known */
    LOCKS_STEP = 512,     /* more locks on the machine than at the last count: a reason to count */
    LOCKS_READ = 8 << 20, /* bytes of the table of locks that are read at most */
    KNOWN_PIDS = 64,
};

void watch_host_open(struct watch_host *h)
{
    *h = (struct watch_host){ .fewest_locks = UINT64_MAX, .counter_pidfd = -1 };
    h->locks_fd = open("/sys/kernel/slab/file_lock_cache/objects", O_RDONLY | O_CLOEXEC);
}

bool watch_has_child(const struct watch_host *h, pid_t pid)
{
    return h->counter > 0 && h->counter == pid;
}

void watch_done(struct watch *w, struct watch_host *h)
{
    if (h->counted == w)
        h->counted = NULL;
    for (size_t i = 0; i < ARRAY_LEN(w->sockets_fd); i++)
        fd_close(&w->sockets_fd[i]);
    fd_close(&w->listeners_fd);
}

/* Reads the small file again, from its start. */
static bool read_again(int fd, char *out, size_t size)
{
    ssize_t n = fd >= 0 ? pread(fd, out, size - 1, 0) : -1;
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* ---- sockets ---- */

static uint64_t tcp_sockets(struct watch *w, int proc_fd, pid_t init)
{
    static const struct {
        const char *file, *key;
    } tables[] = { { "sockstat", "TCP: inuse " }, { "sockstat6", "TCP6: inuse " } };
    uint64_t sum = 0;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char text[512], path[48];
        if (w->sockets_fd[i] == -1) {
            (void)snprintf(path, sizeof path, "%d/net/%s", (int)init, tables[i].file);
            w->sockets_fd[i] = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
            w->sockets_fd[i] = w->sockets_fd[i] < 0 ? -2 : w->sockets_fd[i];
        }
        const char *at = read_again(w->sockets_fd[i], text, sizeof text)
                             ? strstr(text, tables[i].key)
                             : NULL;
        sum += at ? strtoull(at + strlen(tables[i].key), NULL, 10) : 0;
    }
    return sum;
}

/* A socket in the network of the jar, for questions about it. */
static int open_listeners(struct jar_host *h, pid_t init)
{
    char path[48];
    struct err ignored;
    (void)snprintf(path, sizeof path, "%d/ns/net", (int)init);
    if (as_owner_begin(h, &ignored))
        return -2;
    autoclose int net = openat(h->proc_fd, path, O_RDONLY | O_CLOEXEC);
    as_owner_end(h);
    if (net < 0 || !netns_can_return(&h->own_net_fd) || setns(net, CLONE_NEWNET) < 0)
        return -2;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    netns_return(h->own_net_fd);
    return fd < 0 ? -2 : fd;
}

static bool ask_listeners(int fd, int family)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } ask = { .head = { .nlmsg_len = sizeof ask,
                        .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
              .body = { .sdiag_family = (uint8_t)family,
                        .sdiag_protocol = IPPROTO_TCP,
                        .idiag_states = 1u << TCP_LISTEN } };
    return send(fd, &ask, sizeof ask, MSG_DONTWAIT) == (ssize_t)sizeof ask;
}

/* Adds up the queues in one datagram. 1: more follows, 0: that was all, -1: the kernel cannot
 * tell. */
static int add_queues(struct nlmsghdr *m, size_t left, uint64_t *sum)
{
    for (; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
        if (m->nlmsg_type == NLMSG_DONE)
            return 0;
        if (m->nlmsg_type == NLMSG_ERROR ||
            m->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
            return -1;
        *sum += ((const struct inet_diag_msg *)NLMSG_DATA(m))->idiag_rqueue;
    }
    return 1;
}

/* Connections that no process has accepted; -1: not known. */
static int64_t unaccepted(int fd)
{
    static const int families[] = { AF_INET, AF_INET6 };
    uint64_t sum = 0;
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        int more = ask_listeners(fd, families[i]) ? 1 : -1;
        while (more > 0) {
            _Alignas(struct nlmsghdr) char bytes[32768];
            ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
            more = n > 0 ? add_queues((struct nlmsghdr *)bytes, (size_t)n, &sum) : -1;
        }
        if (more < 0)
            return -1;
    }
    return (int64_t)sum;
}

enum hoard watch_look_at_sockets(struct watch *w, struct jar_host *h, pid_t init)
{
    uint64_t sockets = tcp_sockets(w, h->proc_fd, init);
    w->sockets = sockets;
    if (sockets > hoard_defs[HOARD_SOCKETS].most)
        return HOARD_SOCKETS;
    /* A connection that its client has reset waits in the queue all the same, but only the queue
     * itself counts it. */
    if (sockets == 0)
        return HOARD_NONE;
    if (w->listeners_fd == -1)
        w->listeners_fd = open_listeners(h, init);
    int64_t waiting = w->listeners_fd >= 0 ? unaccepted(w->listeners_fd) : -1;
    /* Where the kernel cannot tell, half of the sockets may be such. */
    uint64_t most = waiting < 0 ? sockets / 2 : (uint64_t)waiting;
    return most > hoard_defs[HOARD_CONNECTIONS].most ? HOARD_CONNECTIONS : HOARD_NONE;
}

/* ---- locks ---- */

struct membership {
    char ns[64]; /* of the jar */
    struct {
        long pid;
        bool inside;
    } known[KNOWN_PIDS];
};

static void pid_namespace(int proc_fd, long pid, char *out, size_t size)
{
    char path[48];
    (void)snprintf(path, sizeof path, "%ld/ns/pid", pid);
    ssize_t n = readlinkat(proc_fd, path, out, size - 1);
    out[n > 0 ? n : 0] = '\0';
}

static bool is_inside(struct membership *m, int proc_fd, long pid)
{
    size_t slot = (size_t)pid % KNOWN_PIDS;
    if (m->known[slot].pid != pid) {
        char ns[64];
        pid_namespace(proc_fd, pid, ns, sizeof ns);
        m->known[slot].pid = pid;
        m->known[slot].inside = m->ns[0] && strcmp(ns, m->ns) == 0;
    }
    return m->known[slot].inside;
}

/* A line: "7: POSIX  ADVISORY  WRITE 1234 00:2d:5 0 0", with "-> " before the kind of one that
 * waits. */
static long pid_of_lock(const char *line)
{
    const char *at = strchr(line, ':');
    at = at ? at + 1 + strspn(at + 1, " ->") : line;
    for (int words = 0; words < 3; words++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return strtol(at, NULL, 10);
}

static uint64_t count_listed_locks(struct membership *m, int proc_fd, uint64_t enough)
{
    uint64_t mine = 0;
    autofree char *line = NULL;
    size_t size = 0, all = 0;
    int fd = openat(proc_fd, "locks", O_RDONLY | O_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    for (ssize_t n; f && mine < enough && all < LOCKS_READ && (n = getline(&line, &size, f)) > 0;
         all += (size_t)n) {
        long pid = pid_of_lock(line);
        mine += pid > 0 && is_inside(m, proc_fd, pid);
    }
    if (f)
        (void)fclose(f);
    else if (fd >= 0)
        (void)close(fd);
    return mine;
}

/* Descriptors of one process whose lock was taken by a process that has ended: the kernel shows 0 as
 * its pid. Each line of fdinfo about a lock begins with "lock:". */
static uint64_t count_orphans_of(int proc_fd, long pid, uint64_t enough)
{
    uint64_t found = 0;
    char path[48];
    (void)snprintf(path, sizeof path, "%ld/fdinfo", pid);
    int dir_fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = dir_fd >= 0 ? fdopendir(dir_fd) : NULL;
    for (struct dirent *d; dir && found < enough && (d = readdir(dir));) {
        char text[1024];
        autoclose int fd = d->d_name[0] == '.' ? -1
                                               : openat(dir_fd, d->d_name, O_RDONLY | O_CLOEXEC);
        const char *lock = read_again(fd, text, sizeof text) ? strstr(text, "\nlock:\t") : NULL;
        found += lock && pid_of_lock(lock + strlen("\nlock:\t")) == 0;
    }
    if (dir)
        (void)closedir(dir);
    else if (dir_fd >= 0)
        (void)close(dir_fd);
    return found;
}

/* The table of locks leaves out each lock whose process has ended. A lock of flock() belongs to an
 * open file, and outlives the process if another process has the file too. */
static uint64_t count_orphaned_locks(struct membership *m, int proc_fd, uint64_t enough)
{
    uint64_t found = 0;
    int fd = openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *d; dir && found < enough && (d = readdir(dir));) {
        long pid = strtol(d->d_name, NULL, 10);
        if (pid > 0 && is_inside(m, proc_fd, pid))
            found += count_orphans_of(proc_fd, pid, enough - found);
    }
    if (dir)
        (void)closedir(dir);
    else if (fd >= 0)
        (void)close(fd);
    return found;
}

static bool has_many_locks(int proc_fd, pid_t init)
{
    struct membership m = { 0 };
    const uint64_t enough = hoard_defs[HOARD_LOCKS].most + 1;
    pid_namespace(proc_fd, init, m.ns, sizeof m.ns);
    return count_listed_locks(&m, proc_fd, enough) >= enough ||
           count_orphaned_locks(&m, proc_fd, enough) >= enough;
}

/* In a child: the kernel makes a reader of this table wait, again for each page of it. */
static void start_count(struct watch *w, struct jar_host *host, pid_t init, uid_t uid)
{
    struct watch_host *h = &host->watch;
    struct err ignored;
    pid_t pid = clone_process(0, -1, &h->counter_pidfd, &ignored);
    if (pid == 0)
        _exit(as_owner_begin_looking(host, uid, &ignored) == 0 &&
                      has_many_locks(host->proc_fd, init)
                  ? 1
                  : 0);
    h->counter = pid > 0 ? pid : 0;
    h->counted = w;
}

/* If the counter has ended, the jar that it looked at learns the result: any other may ask first. */
static void end_count(struct watch_host *h, int options)
{
    siginfo_t info = { 0 };
    if (waitid(P_PIDFD, (id_t)h->counter_pidfd, &info, WEXITED | options) == 0 && info.si_pid == 0)
        return; /* still counting */
    if (h->counted)
        h->counted->many_locks = info.si_code == CLD_EXITED && info.si_status == 1;
    fd_close(&h->counter_pidfd);
    h->counter = 0;
}

/* The table of locks is slow to read, and the kernel stops all locking meanwhile. So it is read
 * only when there are many more locks on the machine than before. */
static bool locks_have_grown(struct watch *w, struct watch_host *h, uint64_t now_us)
{
    char text[64];
    if (!read_again(h->locks_fd, text, sizeof text)) {
        bool due = now_us >= w->locks_us + BLIND_US;
        w->locks_us = due ? now_us : w->locks_us;
        return due;
    }
    uint64_t now = strtoull(text, NULL, 10);
    h->fewest_locks = now < h->fewest_locks ? now : h->fewest_locks;
    if (w->locks == 0 || now < w->locks)
        w->locks = w->locks == 0 ? h->fewest_locks : now;
    if (now < w->locks + LOCKS_STEP)
        return false;
    w->locks = now;
    return true;
}

enum hoard watch_look_at_locks(struct watch *w, struct jar_host *host, pid_t init, uid_t uid,
                               uint64_t now_us)
{
    struct watch_host *h = &host->watch;
    if (h->counter > 0)
        end_count(h, WNOHANG);
    if (w->many_locks)
        return HOARD_LOCKS;
    if (h->counter == 0 && locks_have_grown(w, h, now_us))
        start_count(w, host, init, uid);
    return HOARD_NONE;
}

void watch_host_done(struct watch_host *h)
{
    if (h->counter > 0)
        end_count(h, 0);
    fd_close(&h->locks_fd);
}
