#include "guests/sql/server.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/tree.h"

enum { UP_WITHIN_MS = 20000, LOOK_AGAIN_NS = 500000 };

#define PREPARE "belljar languages prepare postgres"

static int fail(struct pg_server *s, const char *what, int error)
{
    (void)snprintf(s->why, sizeof s->why, "%s%s%s", what, error ? ": " : "",
                   error ? strerror(error) : "");
    return -1;
}

/* ---- the data directory, from an archive ---- */

enum { BLOCK = 512 };

/* The ustar format of POSIX, only as far as our own archive uses it. */
struct tar_entry {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6],
        version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
static_assert(sizeof(struct tar_entry) == BLOCK, "a head is a block");

static int write_file(int dir, const char *name, const char *bytes, size_t n)
{
    autoclose int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 || fd_write_all(fd, bytes, n) ? -1 : 0;
}

static int unpack_entry(int dir, const struct tar_entry *h, const char *bytes, size_t size)
{
    char name[sizeof h->prefix + sizeof h->name + 2];
    (void)snprintf(name, sizeof name, "%.*s%s%.*s", (int)sizeof h->prefix, h->prefix,
                   h->prefix[0] ? "/" : "", (int)sizeof h->name, h->name);
    if (h->type == '5')
        return mkdirat(dir, name, 0700) < 0 && errno != EEXIST ? -1 : 0;
    return write_file(dir, name, bytes, size);
}

static int unpack(struct pg_server *s, int dir, const char *tar, size_t n)
{
    size_t at = 0;
    while (n - at >= BLOCK && tar[at] != '\0') {
        const struct tar_entry *h = (const struct tar_entry *)(tar + at);
        size_t size = strtoul(h->size, NULL, 8);
        size_t blocks = (size + BLOCK - 1) / BLOCK * BLOCK;
        at += BLOCK;
        if (blocks > n - at)
            return fail(s, "the prepared data directory is damaged: run '" PREPARE "'", 0);
        if (unpack_entry(dir, h, tar + at, size))
            return fail(s, "unpack the data directory", errno);
        at += blocks;
    }
    return 0;
}

/* Our files are in the directory of our program. */
static int open_seed(const char *name)
{
    char path[4200];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
    if (!slash)
        return -1;
    (void)snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), SERVER_SEED "/%s", name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static int lay_out(struct pg_server *s)
{
    struct stat st;
    autoclose int tar = open_seed("data.tar");
    if (tar < 0 || fstat(tar, &st) < 0 || st.st_size == 0)
        return fail(s, "PostgreSQL has no prepared data directory here: run '" PREPARE "'", 0);
    if (mkdir(SERVER_DIR, 0700) < 0)
        return fail(s, "make " SERVER_DIR, errno);
    autoclose int dir = open(SERVER_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return fail(s, "open " SERVER_DIR, errno);
    size_t n = (size_t)st.st_size;
    char *bytes = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_POPULATE, tar, 0);
    if (bytes == MAP_FAILED)
        return fail(s, "read the prepared data directory", errno);
    int failed = unpack(s, dir, bytes, n);
    (void)munmap(bytes, n);
    return failed;
}

/* ---- the server ---- */

static int find_server(struct pg_server *s, char *out, size_t size)
{
    autoclose int fd = open_seed("server");
    ssize_t n = fd >= 0 ? fd_read_full(fd, out, size - 1) : -1;
    if (n <= 0)
        return fail(
            s,
            "PostgreSQL is not prepared on this machine: apt-get install postgresql, then '" PREPARE
            "'",
            0);
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    autoclose int program = open(out, O_PATH | O_CLOEXEC);
    if (program < 0)
        return fail(s, "the prepared PostgreSQL is no longer installed: run '" PREPARE "'", 0);
    return 0;
}

int server_check(struct pg_server *s)
{
    char path[256];
    autoclose int tar = open_seed("data.tar");
    if (find_server(s, path, sizeof path))
        return -1;
    return tar < 0 ? fail(s, "PostgreSQL has no prepared data directory here: run '" PREPARE "'", 0)
                   : 0;
}

/* The server finds its files by its argv[0]. */
static int spawn(struct pg_server *s, char *path)
{
    char dir[] = SERVER_DIR, d[] = "-D", k[] = "-k";
    char *const argv[] = { path, d, dir, k, dir, NULL };
    char where[] = "PATH=/usr/bin:/bin", locale[] = "LC_ALL=C.UTF-8", tz[] = "TZ=UTC";
    char *const envp[] = { where, locale, tz, NULL };
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return fail(s, "no memory to start a server", 0);
    int rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    rc = rc ? rc
            : posix_spawn_file_actions_addopen(&actions, 1, SERVER_DIR "/log",
                                               O_WRONLY | O_CREAT | O_APPEND, 0600);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, 1, 2);
    rc = rc ? rc : posix_spawn(&s->pid, path, &actions, NULL, argv, envp);
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc ? fail(s, "start the PostgreSQL server", rc) : 0;
}

/* The server ended while it started; the end of its log has the reason. */
static int tell_log(struct pg_server *s)
{
    char log[256];
    ssize_t n = fd_read_file(AT_FDCWD, SERVER_DIR "/log", log, sizeof log);
    while (n > 0 && log[n - 1] == '\n')
        log[--n] = '\0';
    (void)snprintf(s->why, sizeof s->why, "the PostgreSQL server did not start%s%s",
                   n > 0 ? ": " : "", n > 0 ? log : "");
    return -1;
}

static bool listens(void)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = SERVER_DIR "/.s.PGSQL.5432" };
    autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
}

PGconn *server_connect(void)
{
    static const char *const keys[] = { "host",
                                        "user",
                                        "dbname",
                                        "sslmode",
                                        "gssencmode",
                                        "client_encoding",
                                        "fallback_application_name",
                                        NULL };
    static const char *const values[] = { SERVER_DIR, "sandbox", "sandbox", "disable",
                                          "disable",  "UTF8",    "belljar", NULL };
    return PQconnectdbParams(keys, values, 0);
}

static int wait_until_up(struct pg_server *s)
{
    const uint64_t deadline_us = clock_us() + UP_WITHIN_MS * UINT64_C(1000);
    while (clock_us() < deadline_us) {
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid) {
            s->pid = 0;
            return tell_log(s);
        }
        if (listens()) {
            s->connection = server_connect();
            if (s->connection && PQstatus(s->connection) == CONNECTION_OK)
                return 0;
            PQfinish(s->connection); /* it is still starting */
            s->connection = NULL;
        }
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_AGAIN_NS }, NULL);
    }
    return tell_log(s);
}

bool server_met_full_disk(void)
{
    enum { LAST_WORDS = 4096 };
    char words[LAST_WORDS];
    struct statfs fs;
    /* and its log has no room for the error */
    if (statfs(SERVER_DIR, &fs) == 0 && (fs.f_bfree == 0 || fs.f_ffree == 0))
        return true;
    autoclose int fd = open(SERVER_DIR "/log", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    (void)lseek(fd, -(off_t)sizeof words + 1, SEEK_END);
    ssize_t n = fd_read_full(fd, words, sizeof words - 1);
    words[n > 0 ? n : 0] = '\0';
    return strstr(words, strerror(ENOSPC)) != NULL;
}

/* Neither the kernel's nor the server's message says how much space it needs. */
static void tell_full_disk(struct pg_server *s)
{
    struct statfs fs;
    s->disk_full = server_met_full_disk();
    if (!s->disk_full)
        return;
    bool files = statfs(SERVER_DIR, &fs) == 0 && fs.f_ffree == 0 && fs.f_bfree > 0;
    (void)fail(s,
               files
                   ? "the files limit is too small for a PostgreSQL server, which needs about 550 "
                     "files: allow 1000 or more"
                   : "the disk limit is too small for a PostgreSQL server, whose own files take "
                     "16 MiB (of the memory limit, too): allow 24 MiB or more",
               0);
}

/* The files stay: the full disk is the visible trace of the failure. */
static void give_up(struct pg_server *s)
{
    if (s->pid > 0) {
        (void)kill(s->pid, SIGKILL);
        (void)waitpid(s->pid, NULL, 0);
    }
    s->pid = 0;
    tell_full_disk(s);
}

int server_start(struct pg_server *s)
{
    char path[256];
    struct err ignored;
    autoclose int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return fail(s,
                    "PostgreSQL needs sockets, which isolation level process does not provide: use "
                    "level jar or rootless",
                    0);
    (void)!tree_remove(AT_FDCWD, SERVER_DIR, &ignored); /* of a failed start */
    if (find_server(s, path, sizeof path) == 0 && lay_out(s) == 0 && spawn(s, path) == 0 &&
        wait_until_up(s) == 0)
        return 0;
    give_up(s);
    return -1;
}

void server_take_limits(const struct pg_server *s)
{
    static const int which[] = { RLIMIT_CPU, RLIMIT_DATA, RLIMIT_NOFILE, RLIMIT_NPROC };
    const pid_t pids[] = { s->pid, PQbackendPID(s->connection) };
    for (size_t i = 0; i < ARRAY_LEN(which); i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)which[i], &limit) < 0)
            continue;
        for (size_t k = 0; k < 2; k++)
            if (pids[k] > 0)
                (void)prlimit(pids[k], (__rlimit_resource_t)which[i], &limit, NULL);
    }
}

void server_done(struct pg_server *s)
{
    PQfinish(s->connection);
    s->connection = NULL;
}

/* ---- images ---- */

/* State and parent out of /proc/PID/stat: "PID (NAME) S PARENT …". */
static bool read_stat(pid_t pid, char *ret_state, pid_t *ret_parent)
{
    char path[64], text[256];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    ssize_t n = fd_read_file(AT_FDCWD, path, text, sizeof text);
    const char *after = n > 0 ? strrchr(text, ')') : NULL;
    if (!after || strlen(after) < 5)
        return false;
    *ret_state = after[2];
    *ret_parent = (pid_t)strtol(after + 4, NULL, 10);
    return true;
}

/* The first process and its children: it starts all the others. Returns how many are not in the
 * wanted state, if there is one. */
static unsigned signal_all(const struct pg_server *s, int sig, char wanted)
{
    unsigned others = 0;
    const struct dirent *entry;
    if (s->pid <= 0)
        return 0;
    DIR *d = opendir("/proc");
    if (sig)
        (void)kill(s->pid, sig); /* first: it starts no process any more */
    while (d && (entry = readdir(d))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), parent = 0;
        char state = 0;
        if (pid <= 0 || !read_stat(pid, &state, &parent) || (pid != s->pid && parent != s->pid) ||
            state == 'Z')
            continue;
        if (sig)
            (void)kill(pid, sig);
        others += wanted && state != wanted;
    }
    if (d)
        (void)closedir(d);
    return d ? others : 1;
}

int server_pause(const struct pg_server *s)
{
    enum { WITHIN_MS = 2000 };
    const uint64_t deadline_us = clock_us() + WITHIN_MS * UINT64_C(1000);
    (void)signal_all(s, SIGSTOP, 0);
    while (signal_all(s, 0, 'T') > 0) {
        if (clock_us() > deadline_us)
            return -1;
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_AGAIN_NS / 10 }, NULL);
    }
    return 0;
}

void server_resume(const struct pg_server *s)
{
    (void)signal_all(s, SIGCONT, 0);
}

void server_stop(struct pg_server *s)
{
    enum { WITHIN_MS = 3000 };
    const uint64_t deadline_us = clock_us() + WITHIN_MS * UINT64_C(1000);
    server_done(s);
    if (s->pid <= 0)
        return;
    (void)kill(s->pid, SIGQUIT); /* it ends its children first */
    while (waitpid(s->pid, NULL, WNOHANG) == 0) {
        if (clock_us() > deadline_us)
            (void)signal_all(s, SIGKILL, 0);
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_AGAIN_NS }, NULL);
    }
    s->pid = 0;
}

int server_start_here(struct pg_server *s)
{
    static const char *const of_the_other[] = { "postmaster.pid", ".s.PGSQL.5432.lock", "log" };
    char path[256];
    for (size_t i = 0; i < ARRAY_LEN(of_the_other); i++) {
        (void)snprintf(path, sizeof path, SERVER_DIR "/%s", of_the_other[i]);
        (void)unlink(path);
    }
    if (find_server(s, path, sizeof path) == 0 && spawn(s, path) == 0 && wait_until_up(s) == 0)
        return 0;
    give_up(s);
    return -1;
}
