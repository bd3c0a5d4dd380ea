/* Finds a place for our cgroups: the version that the machine uses, a directory that we may use,
 * and the remains of earlier processes there.
 * Runs in: the process that starts a warden. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "jar/cgroup.h"

static const char *const v1_controllers[CGROUP_SLOTS] = {
    [CGROUP_MEMORY] = "memory",
    [CGROUP_PIDS] = "pids",
    [CGROUP_CPU] = "cpu",
    [CGROUP_CPUACCT] = "cpuacct",
};
static const struct {
    const char *on, *off;
    unsigned has;
} v2_controllers[] = {
    { "+memory", "-memory", CGROUP_HAS_MEMORY },
    { "+pids", "-pids", CGROUP_HAS_PIDS },
    { "+cpu", "-cpu", CGROUP_HAS_CPU },
};
enum { V2_CONTROLLERS = ARRAY_LEN(v2_controllers) };

/* True when `word` is one of the comma-separated words. */
static bool in_list(const char *list, size_t n, const char *word)
{
    size_t w = strlen(word);
    for (const char *end = list + n; list < end;) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        size_t part = comma ? (size_t)(comma - list) : (size_t)(end - list);
        if (part == w && memcmp(list, word, w) == 0)
            return true;
        list += part + 1;
    }
    return false;
}

static int read_whole(const char *path, struct buf *b, struct err *e)
{
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", path);
    return fd_read_to_buf(fd, 1 << 20, b, e);
}

/* Our own path in the hierarchy with this controller (NULL: v2), from lines like
 * "4:memory:/a/b". */
static int own_path(const struct buf *cgroups, const char *controller, char *out, size_t size)
{
    for (const char *line = buf_str(cgroups); *line;) {
        const char *end = strchrnul(line, '\n');
        const char *list = memchr(line, ':', (size_t)(end - line));
        const char *path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
        if (path) {
            size_t n = (size_t)(path - list - 1);
            bool match = controller ? in_list(list + 1, n, controller) : n == 0;
            if (match) {
                (void)snprintf(out, size, "%.*s", (int)(end - path - 1), path + 1);
                return 0;
            }
        }
        line = *end ? end + 1 : end;
    }
    return -1;
}

struct mount_point {
    char root[512]; /* the part of the hierarchy that is mounted */
    char at[512];   /* where */
};

/* The mount of the hierarchy with this controller (NULL: v2), from /proc/self/mountinfo. */
static int find_mount(const struct buf *mounts, const char *controller, struct mount_point *ret)
{
    for (const char *line = buf_str(mounts); *line;) {
        const char *end = strchrnul(line, '\n');
        char row[2048], type[32], options[512];
        struct mount_point m;
        (void)snprintf(row, sizeof row, "%.*s", (int)(end - line), line);
        const char *tail = strstr(row, " - ");
        if (tail && sscanf(row, "%*s %*s %*s %511s %511s", m.root, m.at) == 2 &&
            sscanf(tail, " - %31s %*s %511s", type, options) == 2) {
            bool match = controller ? strcmp(type, "cgroup") == 0 &&
                                          in_list(options, strlen(options), controller)
                                    : strcmp(type, "cgroup2") == 0;
            if (match) {
                *ret = m;
                return 0;
            }
        }
        line = *end ? end + 1 : end;
    }
    return -1;
}

/* The length of the prefix of `path` that is the root of the mount; -1 if the mount does not show
 * `path`. */
static int covered(const struct mount_point *m, const char *path)
{
    size_t root = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
    if (strncmp(path, m->root, root) != 0 || (path[root] != '/' && path[root] != '\0'))
        return -1;
    return (int)root;
}

/* Opens mount + path. If the mount shows only part of the hierarchy, that prefix is cut off the
 * path. */
static int open_own(const struct mount_point *m, const char *path, char *ret_shown, size_t size)
{
    int root = covered(m, path);
    (void)snprintf(ret_shown, size, "%s%s", m->at, root < 0 ? "" : path + root);
    return open(ret_shown, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The start time, field 22 of /proc/<pid>/stat, tells processes with the same pid apart. 0: no
 * process. */
static uint64_t start_time(pid_t pid)
{
    char path[40], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0)
        return 0;
    const char *at = strrchr(text, ')'); /* the name may hold any character */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Removes a directory of ours and its jars. A jar with a living process stays. True when all are
 * gone. */
static bool remove_ours(int base_fd, const char *name)
{
    int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        fd_close(&fd);
        return true;
    }
    for (struct dirent *entry; (entry = readdir(d));)
        if (strncmp(entry->d_name, "jar-", 4) == 0)
            (void)unlinkat(fd, entry->d_name, AT_REMOVEDIR);
    return unlinkat(base_fd, name, AT_REMOVEDIR) == 0 || errno != EBUSY;
}

/* Removes the directories of our processes that were killed. */
static void sweep(int base_fd)
{
    int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        fd_close(&fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(d));) {
        int pid;
        uint64_t started;
        char tail;
        int parts = sscanf(entry->d_name, "belljar-%d-%" SCNu64 "%c", &pid, &started, &tail);
        if ((parts == 2 || (parts == 3 && tail == '-')) && start_time(pid) != started)
            (void)remove_ours(base_fd, entry->d_name);
        /* the leaf that it stepped aside into (see below) */
        if (sscanf(entry->d_name, "belljar-home-%d%c", &pid, &tail) == 1 && start_time(pid) == 0)
            (void)unlinkat(base_fd, entry->d_name, AT_REMOVEDIR);
    }
}

/* A process may have several wardens: the first free name is ours, in every hierarchy. EEXIST in a
 * later hierarchy is fine: v1 hierarchies may be mounted together (cpu,cpuacct). */
static int make_ours(struct cgroup_host *h, int slot, const char *shown, struct err *e)
{
    size_t stem = strlen(h->name);
    int made = -1;
    sweep(h->base_fd[slot]);
    for (int n = 1; made < 0 && n < 100; n++) {
        made = mkdirat(h->base_fd[slot], h->name, 0755);
        if (made == 0 || errno != EEXIST || slot > 0)
            break;
        (void)snprintf(h->name + stem, sizeof h->name - stem, "-%d", n);
    }
    if (made < 0 && !(errno == EEXIST && slot > 0))
        return err_set(e, ERR_UNAVAILABLE, errno, "make a cgroup in %s", shown);
    h->fd[slot] = openat(h->base_fd[slot], h->name,
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (h->fd[slot] < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "open a cgroup in %s", shown);
    return 0;
}

static int open_v1(struct cgroup_host *h, const struct buf *cgroups, const struct buf *mounts,
                   struct err *e)
{
    h->version = 1;
    h->slots = CGROUP_SLOTS;
    h->has = CGROUP_HAS_ALL;
    for (int i = 0; i < CGROUP_SLOTS; i++) {
        char path[512], shown[1100];
        struct mount_point m;
        if (own_path(cgroups, v1_controllers[i], path, sizeof path) ||
            find_mount(mounts, v1_controllers[i], &m))
            return err_set(e, ERR_UNAVAILABLE, 0, "the cgroup v1 controller %s is not mounted",
                           v1_controllers[i]);
        h->base_fd[i] = open_own(&m, path, shown, sizeof shown);
        if (h->base_fd[i] < 0)
            return err_set(e, ERR_UNAVAILABLE, errno, "open the cgroup %s", shown);
        if (make_ours(h, i, shown, e))
            return -1;
    }
    return 0;
}

/* v2: a cgroup that limits children may hold no process itself. If we are alone in it we step
 * aside, into a leaf. If other processes are in it, it cannot be used. */
static int step_aside(struct cgroup_host *h, const char *shown, struct err *e)
{
    int dir_fd = h->base_fd[0];
    char text[4096], line[32], leaf[40], procs[64];
    ssize_t n = fd_read_file(dir_fd, "cgroup.procs", text, sizeof text);
    if (n <= 0)
        return n < 0 ? err_set(e, ERR_UNAVAILABLE, errno, "read the processes in %s", shown) : 0;
    (void)snprintf(line, sizeof line, "%d\n", (int)getpid());
    if (strcmp(text, line) != 0)
        return err_set(e, ERR_UNAVAILABLE, EBUSY, "use the cgroup %s, which holds other processes",
                       shown);
    (void)snprintf(leaf, sizeof leaf, "belljar-home-%d", (int)getpid());
    (void)snprintf(procs, sizeof procs, "%s/cgroup.procs", leaf);
    if (mkdirat(dir_fd, leaf, 0755) < 0 && errno != EEXIST)
        return err_set(e, ERR_UNAVAILABLE, errno, "make the cgroup %s/%s", shown, leaf);
    if (fd_write_file(dir_fd, procs, "0", e)) {
        (void)unlinkat(dir_fd, leaf, AT_REMOVEDIR);
        return -1;
    }
    h->stepped_aside = getpid();
    return 0;
}

/* Steps back. Only the process that stepped aside does this, once the jars are gone. */
static void step_back(struct cgroup_host *h)
{
    char leaf[40];
    struct err ignored;
    if (h->stepped_aside != getpid() || h->base_fd[0] < 0)
        return;
    for (int i = 0; i < V2_CONTROLLERS; i++)
        (void)!fd_write_file(h->base_fd[0], "cgroup.subtree_control", v2_controllers[i].off,
                             &ignored);
    (void)!fd_write_file(h->base_fd[0], "cgroup.procs", "0", &ignored);
    (void)snprintf(leaf, sizeof leaf, "belljar-home-%d", (int)getpid());
    (void)unlinkat(h->base_fd[0], leaf, AT_REMOVEDIR);
    h->stepped_aside = 0;
}

/* The root of the machine has no cgroup.type and may hold processes; the root of a cgroup namespace
 * is not like that. */
static bool is_real_root(int dir_fd)
{
    autoclose int fd = openat(dir_fd, "cgroup.type", O_RDONLY | O_CLOEXEC);
    return fd < 0 && errno == ENOENT;
}

/* One by one: a controller that is not available must not stop the others. */
static unsigned switch_on(int dir_fd, struct err *e)
{
    unsigned has = 0;
    for (int i = 0; i < V2_CONTROLLERS; i++)
        if (fd_write_file(dir_fd, "cgroup.subtree_control", v2_controllers[i].on, e) == 0)
            has |= v2_controllers[i].has;
    return has;
}

static int try_v2_base(struct cgroup_host *h, const char *shown, bool all, struct err *e)
{
    h->base_fd[0] = open(shown, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (h->base_fd[0] < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "open the cgroup %s", shown);
    if (!is_real_root(h->base_fd[0]) && step_aside(h, shown, e))
        return -1;
    h->has = switch_on(h->base_fd[0], e);
    if (h->has == 0 || (all && h->has != CGROUP_HAS_ALL))
        return err_wrap(e, "switch on controllers in %s", shown);
    if (make_ours(h, 0, shown, e))
        return -1;
    if (switch_on(h->fd[0], e) != h->has)
        return err_wrap(e, "switch on controllers below %s", shown);
    /* Moving a process needs the right to write cgroup.procs of the common ancestor. */
    autoclose int procs = openat(h->base_fd[0], "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (procs < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "write the processes of %s", shown);
    return 0;
}

/* If we have stepped aside before, our first cgroup is the one above. */
static void leave_home(char *path)
{
    char home[40];
    (void)snprintf(home, sizeof home, "/belljar-home-%d", (int)getpid());
    size_t n = strlen(path), h = strlen(home);
    if (n > h && strcmp(path + n - h, home) == 0)
        path[n - h] = '\0';
}

static void close_base(struct cgroup_host *h)
{
    if (h->fd[0] >= 0)
        (void)remove_ours(h->base_fd[0], h->name);
    step_back(h);
    fd_close(&h->fd[0]);
    fd_close(&h->base_fd[0]);
}

/* The first cgroup that works, from our own upwards. The error is that of the nearest one. */
static int climb(struct cgroup_host *h, const struct mount_point *m, const char *own, bool all,
                 struct err *e)
{
    char path[512], shown[1100];
    struct err first = { 0 };
    size_t root = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
    (void)snprintf(path, sizeof path, "%s", own);
    for (;;) {
        bool top = strcmp(path, "/") == 0 || path[root] == '\0';
        struct err tried = { 0 };
        (void)snprintf(shown, sizeof shown, "%s%s", m->at, top ? "" : path + root);
        if (try_v2_base(h, shown, all, &tried) == 0)
            return 0;
        close_base(h);
        if (first.code == ERR_NONE)
            first = tried;
        char *slash = strrchr(path, '/');
        if (top || !slash)
            break;
        slash[slash == path ? 1 : 0] = '\0';
    }
    *e = first;
    e->code = ERR_UNAVAILABLE; /* for every kind of refusal */
    return -1;
}

/* Prefers a place with all controllers, even far up, to a nearer one with some. */
static int open_v2(struct cgroup_host *h, const struct buf *cgroups, const struct buf *mounts,
                   struct err *e)
{
    char path[512];
    struct mount_point m;
    if (own_path(cgroups, NULL, path, sizeof path) || find_mount(mounts, NULL, &m))
        return err_set(e, ERR_UNAVAILABLE, 0, "no cgroup file system is mounted");
    if (covered(&m, path) < 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "our cgroup %s is not below the mounted %s", path,
                       m.root);
    leave_home(path);
    h->version = 2;
    h->slots = 1;
    struct err ignored;
    return climb(h, &m, path, true, e) && climb(h, &m, path, false, &ignored) ? -1 : 0;
}

int cgroup_host_open(struct cgroup_host *h, struct err *e)
{
    scoped(buf) cgroups = { 0 }, mounts = { 0 };
    char path[512];
    *h = (struct cgroup_host)CGROUP_HOST_INIT;
    if (read_whole("/proc/self/cgroup", &cgroups, e) ||
        read_whole("/proc/self/mountinfo", &mounts, e))
        return -1;
    (void)snprintf(h->name, sizeof h->name, "belljar-%d-%" PRIu64, (int)getpid(),
                   start_time(getpid()));
    bool v1 = own_path(&cgroups, "memory", path, sizeof path) == 0;
    if (v1 ? open_v1(h, &cgroups, &mounts, e) : open_v2(h, &cgroups, &mounts, e)) {
        cgroup_host_done(h);
        return -1;
    }
    return 0;
}

void cgroup_host_done(struct cgroup_host *h)
{
    for (int i = 0; i < h->slots; i++) {
        /* Processes of a killed warden may still be dying. */
        for (int tries = 0; h->fd[i] >= 0 && tries < 400 && !remove_ours(h->base_fd[i], h->name);
             tries++)
            (void)usleep(5000);
        if (h->version == 2)
            step_back(h);
        fd_close(&h->fd[i]);
        fd_close(&h->base_fd[i]);
    }
    *h = (struct cgroup_host)CGROUP_HOST_INIT;
}

int cgroup_host_bound(struct cgroup_host *h, uint64_t memory, uint64_t pids, struct err *e)
{
    bool first = h->version == 1;
    const struct {
        enum cgroup_slot slot;
        unsigned has;
        const char *file;
        uint64_t value;
    } bounds[] = {
        { first ? CGROUP_MEMORY : 0, CGROUP_HAS_MEMORY,
          first ? "memory.limit_in_bytes" : "memory.max", memory },
        { first ? CGROUP_PIDS : 0, CGROUP_HAS_PIDS, "pids.max", pids },
    };
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        char text[32];
        if (bounds[i].value == 0 || !(h->has & bounds[i].has))
            continue;
        (void)snprintf(text, sizeof text, "%" PRIu64, bounds[i].value);
        if (fd_write_file(h->fd[bounds[i].slot], bounds[i].file, text, e))
            return err_wrap(e, "bound all jars together");
    }
    return 0;
}
