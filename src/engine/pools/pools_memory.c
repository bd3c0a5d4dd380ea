/* The memory for embryos: that of the machine, or less if a cgroup around us has a limit. A value
 * that cannot be read counts as unlimited. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "engine/pools/pools.h"

/* The usual mount points of a hierarchy, and the names of its files. */
struct hierarchy {
    const char *controller; /* in /proc/self/cgroup; "" is v2 */
    const char *mounts[2];
    const char *max, *current, *reclaimable;
};
static const struct hierarchy hierarchies[] = {
    { "",
      { "sys/fs/cgroup", "sys/fs/cgroup/unified" },
      "memory.max",
      "memory.current",
      "\ninactive_file " },
    { "memory",
      { "sys/fs/cgroup/memory", NULL },
      "memory.limit_in_bytes",
      "memory.usage_in_bytes",
      "\ntotal_inactive_file " },
};

/* The number after a word in a text, or 0. */
static uint64_t number_after(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static bool read_number(int dir_fd, const char *name, uint64_t *ret)
{
    char text[32];
    if (fd_read_file(dir_fd, name, text, sizeof text) <= 0 || text[0] < '0' || text[0] > '9')
        return false;
    *ret = strtoull(text, NULL, 10);
    return true;
}

/* Lowers *m to the limit of this cgroup. Its page cache counts as used there, but the kernel
 * reclaims it. */
static void apply_cgroup(const struct hierarchy *h, int dir_fd, struct pools_memory *m)
{
    static const size_t STAT_SIZE = 8192;
    uint64_t max, current;
    if (!read_number(dir_fd, h->max, &max) || max >= m->total ||
        !read_number(dir_fd, h->current, &current))
        return;
    autofree char *stat = malloc(STAT_SIZE);
    uint64_t cache = 0;
    if (stat && fd_read_file(dir_fd, "memory.stat", stat, STAT_SIZE) > 0)
        cache = number_after(stat, h->reclaimable);
    uint64_t used = current > cache ? current - cache : 0;
    uint64_t left = max > used ? max - used : 0;
    m->total = max;
    if (left < m->available)
        m->available = left;
}

/* Our cgroup and every cgroup around it that the mount shows. */
static void apply_hierarchy(const struct hierarchy *h, int root_fd, const char *own,
                            struct pools_memory *m)
{
    for (size_t i = 0; i < 2 && h->mounts[i]; i++) {
        char path[1024];
        int n = snprintf(path, sizeof path, "%s%s", h->mounts[i], own);
        size_t mount = strlen(h->mounts[i]);
        while (n > 0 && (size_t)n < sizeof path && strlen(path) >= mount) {
            autoclose int fd = openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (fd >= 0)
                apply_cgroup(h, fd, m);
            char *slash = strrchr(path, '/');
            if (!slash)
                break;
            *slash = '\0';
        }
    }
}

/* "4:memory:/a/b", "0::/a" */
static void apply_cgroups(int root_fd, struct pools_memory *m)
{
    char text[4096];
    if (fd_read_file(root_fd, "proc/self/cgroup", text, sizeof text) <= 0)
        return;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *list = strchr(line, ':'), *own = list ? strchr(list + 1, ':') : NULL;
        if (!own)
            continue;
        *own++ = '\0';
        for (size_t i = 0; i < ARRAY_LEN(hierarchies); i++)
            if (strcmp(list + 1, hierarchies[i].controller) == 0)
                apply_hierarchy(&hierarchies[i], root_fd, strcmp(own, "/") == 0 ? "" : own, m);
    }
}

struct pools_memory pools_memory_read_at(int root_fd)
{
    struct pools_memory m = { 0 };
    char text[4096];
    if (fd_read_file(root_fd, "proc/meminfo", text, sizeof text) > 0) {
        m.total = number_after(text, "MemTotal:") << 10;
        m.available = number_after(text, "MemAvailable:") << 10;
    }
    if (m.total > 0)
        apply_cgroups(root_fd, &m);
    if (fd_read_file(root_fd, "proc/pressure/memory", text, sizeof text) > 0) {
        const char *full = strstr(text, "full avg10=");
        m.stalled = full ? strtod(full + strlen("full avg10="), NULL) : 0;
    }
    return m;
}

struct pools_memory pools_memory_read(void)
{
    autoclose int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct pools_memory none = { 0 };
    return root_fd < 0 ? none : pools_memory_read_at(root_fd);
}
