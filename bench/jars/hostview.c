#include "hostview.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "jars_bench.h"

static const char *const whats[] = {
#define X(id, what) [id] = what,
    TRACE_TABLE(X)
#undef X
};

const char *trace_what(enum trace t)
{
    return whats[t];
}

struct process {
    pid_t pid, parent;
    bool below;
};

static bool read_process(const char *name, struct process *ret)
{
    char path[300], text[1024];
    int pid, parent;
    if (name[0] < '1' || name[0] > '9')
        return false;
    (void)snprintf(path, sizeof path, "/proc/%s/stat", name);
    if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0)
        return false;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    if (!at || sscanf(text, "%d", &pid) != 1 || sscanf(at, ") %*c %d", &parent) != 1)
        return false;
    *ret = (struct process){ .pid = pid, .parent = parent };
    return true;
}

static size_t all_processes(struct process **ret)
{
    autodir DIR *proc = opendir("/proc");
    size_t n = 0, room = 0;
    struct process *list = NULL, one;
    if (!proc)
        bench_die("/proc", NULL);
    for (struct dirent *entry; (entry = readdir(proc));) {
        if (!read_process(entry->d_name, &one))
            continue;
        if (n == room) {
            room = room ? 2 * room : 512;
            list = reallocarray(list, room, sizeof *list);
            if (!list)
                bench_die("memory", NULL);
        }
        list[n++] = one;
    }
    *ret = list;
    return n;
}

static bool is_below(const struct process *list, size_t n, pid_t top, pid_t parent)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].pid == parent && list[i].below)
            return true;
    return parent == top;
}

/* The text behind a key in a small file; "" when there is none. */
static const char *text_after(const char *path, const char *key, char *out, size_t size)
{
    if (fd_read_file(AT_FDCWD, path, out, size) <= 0)
        return "";
    const char *at = strstr(out, key);
    return at ? at + strlen(key) : "";
}

/* How many pid namespaces it is in; 0 when it is gone. */
static int pid_depth(pid_t pid)
{
    char path[64], text[4096];
    int depth = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    for (const char *at = text_after(path, "NSpid:", text, sizeof text); *at && *at != '\n'; at++)
        depth += *at == '\t'; /* one before each number */
    return depth;
}

/* An orphan of a jar comes to its init, an orphaned init to the warden, which is pid 1 too:
 * nothing of a jar can be anywhere but below its warden. */
static long processes_below(pid_t top, int deeper_than)
{
    autofree struct process *list = NULL;
    size_t n = all_processes(&list);
    long found = 0;
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t i = 0; i < n; i++) {
            if (list[i].below || !is_below(list, n, top, list[i].parent))
                continue;
            list[i].below = grown = true;
            found += pid_depth(list[i].pid) > deeper_than;
        }
    }
    return found;
}

long jar_processes(pid_t warden, bool namespaces)
{
    return processes_below(warden, namespaces ? pid_depth(warden) : 0);
}

static long lines_of(const char *path)
{
    scoped(buf) text = { 0 };
    struct err e;
    long lines = 0;
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fd_read_to_buf(fd, 16 << 20, &text, &e))
        bench_die(path, NULL);
    for (const char *at = buf_str(&text); (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

static long entries_of(const char *path)
{
    autodir DIR *d = path ? opendir(path) : NULL;
    long n = 0;
    if (!d)
        bench_die("list a directory", NULL);
    for (struct dirent *entry; (entry = readdir(d));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    return n;
}

/* Directories named belljar-<our pid>-..., and those in them. */
static long cgroups_below(const char *mount_point)
{
    char ours[32], at[512];
    long n = 0;
    (void)snprintf(ours, sizeof ours, "belljar-%d-", (int)getpid());
    (void)snprintf(at, sizeof at, "%s", mount_point);
    char *const tops[] = { at, NULL };
    FTS *tree = fts_open(tops, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
    if (!tree)
        bench_die(mount_point, NULL);
    for (FTSENT *entry; (entry = fts_read(tree));)
        n += entry->fts_info == FTS_D && strstr(entry->fts_path, ours);
    (void)fts_close(tree);
    return n;
}

static long cgroups_of_ours(void)
{
    autofree char *line = NULL;
    size_t room = 0;
    long n = 0;
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    if (!mounts)
        bench_die("/proc/self/mountinfo", NULL);
    while (getline(&line, &room, mounts) > 0) {
        char at[512];
        if (strstr(line, " - cgroup") && sscanf(line, "%*s %*s %*s %*s %511s", at) == 1)
            n += cgroups_below(at);
    }
    (void)fclose(mounts);
    return n;
}

void host_view(struct host_view *ret, pid_t warden)
{
    char mounts[64], fds[64];
    (void)snprintf(mounts, sizeof mounts, "/proc/%d/mountinfo", (int)warden);
    (void)snprintf(fds, sizeof fds, "/proc/%d/fd", (int)warden);
    *ret = (struct host_view){ .count = {
                                   [TRACE_PROCESSES] = processes_below(getpid(), 0),
                                   [TRACE_MOUNTS] = lines_of("/proc/self/mountinfo"),
                                   [TRACE_WARDEN_MOUNTS] = warden ? lines_of(mounts) : 0,
                                   [TRACE_CGROUPS] = cgroups_of_ours(),
                                   [TRACE_FDS] = entries_of("/proc/self/fd"),
                                   [TRACE_WARDEN_FDS] = warden ? entries_of(fds) : 0,
                                   [TRACE_FILES] = entries_of(getenv("TMPDIR")),
                               } };
}

long resident_kib(pid_t pid)
{
    char path[64], text[4096];
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    return strtol(text_after(path, "VmRSS:", text, sizeof text), NULL, 10);
}

long memory_cgroups(void)
{
    char text[4096];
    const char *row = text_after("/proc/cgroups", "\nmemory\t", text, sizeof text);
    return strtol(row + strcspn(row, "\t"), NULL, 10); /* behind the hierarchy's number */
}
