/* Holds many kernel objects of one class: hoard CLASS COUNT [MS [BEFORE_MS]]. It waits BEFORE_MS,
 * takes the objects, prints "held N", and waits MS or for ever, so that the test can look at the
 * host. Runs in: a jar. COUNT bounds every class: without any defence less than 1 GB of host memory
 * is taken. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "hoard.h"

enum { SPARE_FDS = 40 };

char data[DATA];

/* Descriptors that this process may still open. */
static long fds_left(void)
{
    int next = open("/dev/null", O_RDONLY);
    (void)close(next);
    return next < 0 ? 0 : sysconf(_SC_OPEN_MAX) - next - SPARE_FDS;
}

/* A child goes on with a table of its own; the parent holds its descriptors and waits. */
static int next_table(void)
{
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child > 0) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
        _exit(0);
    }
    return close_range(3, ~0U, 0);
}

bool has_room(void)
{
    static int tables;
    return fds_left() > 1 || (++tables <= 60 && next_table() == 0);
}

static long records(long count)
{
    long held = 0;
    for (int file = 0; held < count && fds_left() > 0; file++) {
        char name[32];
        (void)snprintf(name, sizeof name, "locked-%d", file);
        int fd = open(name, O_CREAT | O_RDWR, 0600);
        for (int i = 0; fd >= 0 && i < 300 && held < count; i++) {
            struct flock one = { .l_type = F_WRLCK, .l_start = (off_t)2 * i, .l_len = 1 };
            if (fcntl(fd, F_SETLK, &one) < 0)
                return held;
            held++;
        }
        if (fd < 0)
            break;
    }
    return held;
}

/* Locks of descriptions whose process is dead. */
static long flocks_by(long count, bool dies)
{
    long held = 0;
    for (; held < count && has_room(); held++) {
        int fd = open("/sandbox", O_RDONLY);
        if (fd < 0 || (!dies && flock(fd, LOCK_SH) < 0))
            break;
        if (dies && held % 900 == 899) {
            if (fork() == 0) {
                for (int i = 3; i <= fd; i++)
                    (void)flock(i, LOCK_SH);
                _exit(0);
            }
            (void)wait(NULL);
        }
    }
    return held;
}

static long flocks(long count)
{
    return flocks_by(count, false);
}

static long dead_flocks(long count)
{
    return flocks_by(count, true);
}

static long pipes(long count)
{
    long held = 0;
    int ends[2];
    for (; held < count && has_room() && pipe2(ends, O_NONBLOCK) == 0; held++)
        (void)!write(ends[1], data, sizeof data);
    return held;
}

/* ---- objects behind a descriptor ---- */

static int new_eventfd(long n)
{
    (void)n;
    return eventfd(0, 0);
}

static int new_timerfd(long n)
{
    (void)n;
    return timerfd_create(CLOCK_MONOTONIC, 0);
}

static int new_signalfd(long n)
{
    sigset_t none;
    (void)n;
    (void)sigemptyset(&none);
    return signalfd(-1, &none, 0);
}

static int new_epoll(long n)
{
    struct epoll_event e = { .events = EPOLLIN };
    static int events[2];
    if (fcntl(events[0], F_GETFD) < 0 || events[0] == 0)
        (void)!pipe(events);
    int set = epoll_create1(0);
    (void)n;
    for (size_t i = 0; set >= 0 && i < ARRAY_LEN(events); i++)
        (void)epoll_ctl(set, EPOLL_CTL_ADD, events[i], &e);
    return set;
}

static int new_file(long n)
{
    (void)n;
    return open("/usr/bin/env", O_RDONLY);
}

/* A file that signals somebody. */
static int new_owned(long n)
{
    int fd = open("/dev/null", O_RDONLY);
    (void)n;
    (void)fcntl(fd, F_SETOWN, getpid());
    return fd;
}

static int new_proc_file(long n)
{
    static const char *const names[] = { "maps", "mounts", "status", "smaps", "environ", "stat" };
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/%s", names[(size_t)n % ARRAY_LEN(names)]);
    int fd = open(path, O_RDONLY);
    (void)!read(fd, path, 1);
    return fd;
}

/* Of a process that has ended. */
static int new_pidfd(long n)
{
    (void)n;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    int fd = child > 0 ? (int)syscall(SYS_pidfd_open, child, 0) : -1;
    (void)waitpid(child, NULL, 0);
    return fd;
}

static int new_memfd(long n)
{
    (void)n;
    int fd = memfd_create("x", 0);
    return write(fd, data, 1) == 1 ? fd : -1;
}

static int new_terminal(long n)
{
    (void)n;
    return open("/dev/ptmx", O_RDWR | O_NOCTTY);
}

static int new_unix(long n)
{
    (void)n;
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int new_tcp(long n)
{
    (void)n;
    return tcp_socket();
}

static const struct {
    const char *name;
    int (*make)(long n);
} descriptors[] = {
    { "eventfds", new_eventfd },     { "timerfds", new_timerfd },  { "signalfds", new_signalfd },
    { "epoll_sets", new_epoll },     { "open_files", new_file },   { "owned_files", new_owned },
    { "proc_files", new_proc_file }, { "pidfds", new_pidfd },      { "memfds", new_memfd },
    { "terminals", new_terminal },   { "unix_sockets", new_unix }, { "tcp_sockets", new_tcp },
};

static long hold_descriptors(int (*make)(long), long count)
{
    long held = 0;
    while (held < count && has_room() && make(held) >= 0)
        held++;
    return held;
}

/* ---- objects without a descriptor of their own ---- */

static long epoll_items(long count)
{
    long held = 0;
    int events[300];
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        events[i] = eventfd(0, 0);
    while (held < count && fds_left() > 0) {
        int set = epoll_create1(0);
        struct epoll_event e = { .events = EPOLLIN };
        for (size_t i = 0; set >= 0 && i < ARRAY_LEN(events) && held < count; i++)
            held += epoll_ctl(set, EPOLL_CTL_ADD, events[i], &e) == 0;
        if (set < 0)
            break;
    }
    return held;
}

static long timers(long count)
{
    long held = 0;
    timer_t timer;
    while (held < count && timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0)
        held++;
    return held;
}

static long signals(long count)
{
    long held = 0;
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    while (held < count && sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }) == 0)
        held++;
    return held;
}

static long sysv(long count)
{
    long held = 0;
    for (; held < count; held++) {
        int queue = msgget(IPC_PRIVATE, 0600);
        struct {
            long type;
            char text[8192];
        } message = { .type = 1 };
        int made = queue >= 0;
        while (queue >= 0 && msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0)
            made++;
        made += shmget(IPC_PRIVATE, 4096, 0600) >= 0;
        made += semget(IPC_PRIVATE, 250, 0600) >= 0;
        if (made == 0)
            break;
    }
    return held;
}

/* Changes that a semaphore takes back at the end of a process. */
static long undos(long count)
{
    long held = 0;
    for (; held < count; held++) {
        int set = semget(IPC_PRIVATE, 250, 0600);
        struct sembuf one = { .sem_op = 1, .sem_flg = SEM_UNDO };
        if (set < 0 || semop(set, &one, 1) < 0)
            break;
    }
    return held;
}

/* Processes that wait for many files at once. */
static long polls(long count)
{
    static struct pollfd all[1024];
    int ends[2];
    long held = 0;
    (void)!pipe(ends);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        all[i] = (struct pollfd){ .fd = ends[0], .events = POLLIN };
    for (; held < count; held++) {
        pid_t child = fork();
        if (child < 0)
            break;
        if (child == 0) {
            (void)poll(all, (nfds_t)sysconf(_SC_OPEN_MAX), -1);
            _exit(0);
        }
    }
    return held;
}

static void *lock_twice(void *arg)
{
    (void)pthread_mutex_lock(arg);
    (void)pthread_mutex_lock((pthread_mutex_t *)arg + 1);
    return NULL;
}

/* Threads in a queue for mutexes whose waiters lend their priority. */
static long futexes(long count)
{
    static pthread_mutex_t all[65];
    pthread_mutexattr_t kind;
    pthread_t thread;
    long held = 0;
    (void)pthread_mutexattr_init(&kind);
    (void)pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        (void)pthread_mutex_init(&all[i], &kind);
    while (held < count && held < 64 && pthread_create(&thread, NULL, lock_twice, &all[held]) == 0)
        held++;
    return held;
}

/* ---- memory ---- */

static long mappings(long count)
{
    long held = 0;
    for (; held < count; held++)
        if (mmap(NULL, 4096, held % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                 0) == MAP_FAILED)
            break;
    return held;
}

static long named_mappings(long count)
{
    enum { SET_VMA = 0x53564d41 };
    long held = 0;
    for (; held < count; held++) {
        char name[80];
        void *at = mmap(NULL, 4096, held % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
        (void)snprintf(name, sizeof name, "%070ld", held);
        if (at == MAP_FAILED || prctl(SET_VMA, 0, at, 4096, name) < 0)
            break;
    }
    return held;
}

/* One page in each table of pages. */
static long touch(char *all, long count, size_t step)
{
    for (long i = 0; i < count; i++)
        (void)*(volatile char *)(all + (size_t)i * step);
    return count;
}

static long page_tables(long count)
{
    const size_t step = 2 << 20;
    char *all = mmap(NULL, step * (size_t)count, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return 0;
    (void)madvise(all, step * (size_t)count, MADV_NOHUGEPAGE);
    return touch(all, count, step);
}

/* The same file of /usr again and again: its pages are on nobody's account that asks. */
static long shared_mappings(long count)
{
    int fd = open("/usr/bin/env", O_RDONLY);
    long held = 0;
    for (; held < count; held++) {
        char *at = mmap((char *)0x100000000000 + ((size_t)held << 21), 4096, PROT_READ,
                        MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
        if (at == MAP_FAILED)
            break;
        (void)touch(at, 1, 1);
    }
    return held;
}

/* ---- names and files ---- */

/* Names that do not exist: the kernel remembers them. */
static long missing(long count, const char *where)
{
    char name[300];
    for (long i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "%s/%0200ld", where, i);
        (void)open(name, O_PATH);
    }
    return count;
}

static long missing_in_usr(long count)
{
    return missing(count, "/usr/lib");
}

static long missing_in_tmp(long count)
{
    return missing(count, "/tmp");
}

static long missing_in_proc(long count)
{
    return missing(count, "/proc/self/task");
}

static int make_file(const char *name)
{
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    (void)close(fd);
    return fd;
}

static int make_symlink(const char *name)
{
    char target[121];
    memset(target, 'x', sizeof target - 1);
    target[sizeof target - 1] = '\0';
    return symlink(target, name);
}

/* As long as an attribute may be. The kernel does not mind that all entries name the same user. */
static int make_acl(const char *name)
{
    enum { USERS = 8100 };
    static struct {
        uint32_t version;
        struct {
            uint16_t tag, rights;
            uint32_t id;
        } entries[USERS + 4];
    } acl = { .version = 2, .entries[0] = { 1, 6, ~0U } };
    for (int i = 1; i <= USERS; i++) {
        acl.entries[i].tag = 2;
        acl.entries[i].rights = 6;
        acl.entries[i].id = getuid();
    }
    static const uint16_t tags[] = { 4, 0x10, 0x20 };
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        acl.entries[USERS + 1 + i].tag = tags[i];
        acl.entries[USERS + 1 + i].rights = 4;
        acl.entries[USERS + 1 + i].id = ~0U;
    }
    if (make_file(name) < 0)
        return -1;
    int fd = open(name, O_RDONLY);
    int rc = setxattr(name, "system.posix_acl_access", &acl, sizeof acl, 0) < 0 &&
                     fsetxattr(fd, "system.posix_acl_access", &acl, sizeof acl, 0) < 0
                 ? -1
                 : 0;
    (void)close(fd);
    return rc;
}

static int make_attribute(const char *name)
{
    char key[64];
    (void)make_file("one");
    (void)snprintf(key, sizeof key, "user.%.50s", name + strlen(name) - 50);
    return setxattr("one", key, data, 1000, 0);
}

static int make_fifo(const char *name)
{
    return mkfifo(name, 0600);
}

static const struct {
    const char *name;
    int (*make)(const char *name);
} files[] = {
    { "files", make_file },           { "symlinks", make_symlink }, { "acls", make_acl },
    { "attributes", make_attribute }, { "fifos", make_fifo },
};

static long hold_files(int (*make)(const char *), long count)
{
    long held = 0;
    char name[250];
    for (; held < count; held++) {
        (void)snprintf(name, sizeof name, "%0240ld", held);
        if (make(name) < 0)
            break;
    }
    return held;
}

/* ---- classes that the filter refuses ---- */

static long refused(long count)
{
    static const unsigned char zeros[256];
    static const char *const tmpfs = "tmpfs";
    int ends[2] = { -1, -1 };
    (void)!pipe(ends);
    const struct {
        const char *name;
        long answer;
    } tries[] = {
        { "inotify", syscall(SYS_inotify_init1, 0) },
        { "fanotify", syscall(SYS_fanotify_init, 0, 0) },
        { "netlink", socket(AF_NETLINK, SOCK_RAW, 0) },
        { "packet", socket(AF_PACKET, SOCK_RAW, 0) },
        { "keys", syscall(SYS_add_key, "user", "x", "y", 1, -2) },
        { "mqueue", syscall(SYS_mq_open, "x", O_CREAT | O_RDWR, 0600, NULL) },
        { "io_uring", syscall(SYS_io_uring_setup, 8, zeros) },
        { "aio", syscall(SYS_io_setup, 8, zeros) },
        { "user namespaces", syscall(SYS_unshare, 0x10000000) },
        { "mounts of proc", mount("proc", "/proc", "proc", 0, NULL) },
        { "mounts", mount(tmpfs, "/tmp", tmpfs, 0, NULL) },
        { "pipe sizes", fcntl(ends[0], 1031 /* F_SETPIPE_SZ */, 1 << 20) },
        { "leases", fcntl(ends[0], 1024 /* F_SETLEASE */, F_RDLCK) },
        { "dnotify", fcntl(ends[0], 1026 /* F_NOTIFY */, 1) },
        { "locks of a description", fcntl(ends[0], 37 /* F_OFD_SETLK */, zeros) },
        { "bpf", syscall(SYS_bpf, 0, zeros, sizeof zeros) },
        { "perf", syscall(SYS_perf_event_open, zeros, 0, -1, -1, 0) },
        { "userfaultfd", syscall(SYS_userfaultfd, 0) },
        { "landlock", syscall(SYS_landlock_create_ruleset, zeros, 8, 0) },
        { "filters", prctl(22 /* PR_SET_SECCOMP */, 2, zeros) },
        { "secret memory", syscall(SYS_memfd_secret, 0) },
        { "attributes", setxattr("/sandbox", "user.x", "y", 1, 0) },
        { "attributes of a descriptor", fsetxattr(ends[0], "user.x", "y", 1, 0) },
    };
    (void)count;
    long held = 0;
    for (size_t i = 0; i < ARRAY_LEN(tries); i++)
        if (tries[i].answer >= 0) {
            printf("%s: not refused\n", tries[i].name);
            held++;
        }
    return held;
}

/* Processes that share memory: they take long to die. COUNT is the number of processes. */
static long sharers(long count)
{
    const size_t size = 200u << 20;
    long held = 0;
    char *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 0;
    (void)madvise(shared, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < size; i += 4096)
        shared[i] = 1;
    for (; held < count; held++) {
        pid_t child = fork();
        if (child < 0)
            break;
        if (child == 0) {
            for (size_t i = 0; i < size; i += 4096)
                (void)*(volatile char *)(shared + i);
            for (;;)
                (void)pause();
        }
    }
    return held;
}

static const struct {
    const char *name;
    long (*take)(long count);
} classes[] = {
    { "accept_queues", accept_queues },
    { "accept_data", accept_data },
    { "time_wait", time_wait },
    { "tcp_pairs", tcp_pairs },
    { "tcp_drops", tcp_drops },
    { "tcp_data", tcp_data },
    { "udp_data", udp_data },
    { "destinations", destinations },
    { "unix_data", unix_data },
    { "in_flight", in_flight },
    { "records", records },
    { "flocks", flocks },
    { "dead_flocks", dead_flocks },
    { "pipes", pipes },
    { "epoll_items", epoll_items },
    { "timers", timers },
    { "signals", signals },
    { "sysv", sysv },
    { "undos", undos },
    { "polls", polls },
    { "futexes", futexes },
    { "mappings", mappings },
    { "named_mappings", named_mappings },
    { "page_tables", page_tables },
    { "shared_mappings", shared_mappings },
    { "missing_in_usr", missing_in_usr },
    { "missing_in_tmp", missing_in_tmp },
    { "missing_in_proc", missing_in_proc },
    { "refused", refused },
    { "sharers", sharers },
};

/* -1: there is no such class. */
static long take(const char *name, long count)
{
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (strcmp(name, classes[i].name) == 0)
            return classes[i].take(count);
    for (size_t i = 0; i < ARRAY_LEN(descriptors); i++)
        if (strcmp(name, descriptors[i].name) == 0)
            return hold_descriptors(descriptors[i].make, count);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (strcmp(name, files[i].name) == 0)
            return hold_files(files[i].make, count);
    return -1;
}

static long number(int argc, char **argv, int i)
{
    return i < argc ? strtol(argv[i], NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    (void)usleep((useconds_t)number(argc, argv, 4) * 1000);
    long held = argc > 2 ? take(argv[1], number(argc, argv, 2)) : -1;
    if (held < 0) {
        (void)fprintf(stderr, "usage: hoard CLASS COUNT [MS [BEFORE_MS]]\n");
        return 2;
    }
    printf("held %ld\n", held);
    (void)fflush(stdout);
    if (argc > 3 && number(argc, argv, 3) > 0)
        return usleep((useconds_t)number(argc, argv, 3) * 1000);
    for (;;)
        (void)pause();
}
