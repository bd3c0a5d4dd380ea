#include "jar/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"

/* A CPU period of 20 ms keeps throttled programs responsive; shares below 5 % would ask for a quota
 * under the kernel's minimum of 1 ms, so they get the usual 100 ms. */
static void cpu_quota(uint64_t percent, uint64_t *ret_quota_us, uint64_t *ret_period_us)
{
    *ret_period_us = percent < 5 ? 100000 : 20000;
    *ret_quota_us = *ret_period_us * percent / 100;
}

/* One row a write. `optional` is only for files that a kernel may lack without the limit being lost. */
struct setting {
    enum cgroup_slot slot;
    const char *file;
    enum { SET_MEMORY, SET_PIDS, SET_PERIOD, SET_QUOTA, SET_CPU_MAX, SET_ZERO, SET_ONE } value;
    bool optional;
    unsigned needs; /* CGROUP_HAS_… */
};

static const struct setting settings_v1[] = {
    { CGROUP_MEMORY, "memory.limit_in_bytes", SET_MEMORY, false, CGROUP_HAS_MEMORY },
    /* memory plus swap; absent when the kernel does not account swap, and then there is none to give */
    { CGROUP_MEMORY, "memory.memsw.limit_in_bytes", SET_MEMORY, true, CGROUP_HAS_MEMORY },
    { CGROUP_MEMORY, "memory.swappiness", SET_ZERO, true, CGROUP_HAS_MEMORY },
    /* v1 counts socket buffers of TCP apart from the rest */
    { CGROUP_MEMORY, "memory.kmem.tcp.limit_in_bytes", SET_MEMORY, true, CGROUP_HAS_MEMORY },
    { CGROUP_PIDS, "pids.max", SET_PIDS, false, CGROUP_HAS_PIDS },
    { CGROUP_CPU, "cpu.cfs_period_us", SET_PERIOD, false, CGROUP_HAS_CPU },
    { CGROUP_CPU, "cpu.cfs_quota_us", SET_QUOTA, false, CGROUP_HAS_CPU },
};
static const struct setting settings_v2[] = {
    { 0, "memory.max", SET_MEMORY, false, CGROUP_HAS_MEMORY },
    { 0, "memory.swap.max", SET_ZERO, true, CGROUP_HAS_MEMORY },
    { 0, "memory.oom.group", SET_ONE, false, CGROUP_HAS_MEMORY },
    { 0, "pids.max", SET_PIDS, false, CGROUP_HAS_PIDS },
    { 0, "cpu.max", SET_CPU_MAX, false, CGROUP_HAS_CPU },
};

static void setting_text(const struct setting *s, const struct limits *l, unsigned spare_pids,
                         char *out, size_t size)
{
    uint64_t quota, period;
    cpu_quota(l->v[LIMIT_CPU_PERCENT], &quota, &period);
    const uint64_t values[] = {
        [SET_MEMORY] = l->v[LIMIT_MEMORY],
        [SET_PIDS] = l->v[LIMIT_PIDS] + spare_pids,
        [SET_PERIOD] = period,
        [SET_QUOTA] = quota,
        [SET_CPU_MAX] = quota,
        [SET_ZERO] = 0,
        [SET_ONE] = 1,
    };
    int n = snprintf(out, size, "%" PRIu64, values[s->value]);
    if (s->value == SET_CPU_MAX)
        (void)snprintf(out + n, size - (size_t)n, " %" PRIu64, period);
}

static void jar_name(uint64_t number, char *out, size_t size)
{
    (void)snprintf(out, size, "jar-%" PRIu64, number);
}

static int open_dir(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void close_all(struct cgroup *c)
{
    for (int i = 0; i < CGROUP_SLOTS; i++) {
        fd_close(&c->fd[i]);
        fd_close(&c->join_fd[i]);
    }
}

static int make_dirs(struct cgroup *c, struct err *e)
{
    char name[32];
    jar_name(c->number, name, sizeof name);
    for (int i = 0; i < c->host->slots; i++) {
        /* EEXIST: v1 hierarchies may be mounted together (cpu,cpuacct) */
        if (mkdirat(c->host->fd[i], name, 0755) < 0 && !(errno == EEXIST && i > 0))
            return err_set(e, ERR_KERNEL, errno, "make the cgroup %s", name);
        c->fd[i] = open_dir(c->host->fd[i], name);
        if (c->fd[i] < 0)
            return err_set(e, ERR_KERNEL, errno, "open the cgroup %s", name);
        const char *join = c->host->version == 1 ? "tasks" : "cgroup.procs";
        c->join_fd[i] = openat(c->fd[i], join, O_WRONLY | O_CLOEXEC);
        if (c->join_fd[i] < 0)
            return err_set(e, ERR_KERNEL, errno, "open %s of the cgroup %s", join, name);
    }
    return 0;
}

static int apply_limits(const struct cgroup *c, const struct limits *limits, unsigned spare_pids,
                        struct err *e)
{
    const struct setting *rows = c->host->version == 1 ? settings_v1 : settings_v2;
    size_t n = c->host->version == 1 ? sizeof settings_v1 / sizeof *rows
                                     : sizeof settings_v2 / sizeof *rows;
    for (size_t i = 0; i < n; i++) {
        char text[64];
        if (!(c->host->has & rows[i].needs))
            continue;
        setting_text(&rows[i], limits, spare_pids, text, sizeof text);
        if (fd_write_file(c->fd[rows[i].slot], rows[i].file, text, e) &&
            !(rows[i].optional && e->sys == ENOENT))
            return err_wrap(e, "set a limit");
    }
    return 0;
}

int cgroup_new(const struct cgroup_host *h, uint64_t number, const struct limits *limits,
               unsigned spare_pids, struct cgroup *ret, struct err *e)
{
    struct cgroup c = { .host = h, .number = number };
    for (int i = 0; i < CGROUP_SLOTS; i++)
        c.fd[i] = c.join_fd[i] = -1;
    if (make_dirs(&c, e) || apply_limits(&c, limits, spare_pids, e)) {
        (void)cgroup_remove(&c);
        return -1;
    }
    *ret = c;
    return 0;
}

int cgroup_clone_fd(const struct cgroup *c)
{
    return c->host->version == 2 ? c->fd[0] : -1;
}

static int join_slots(const struct cgroup *c, int first, int last, struct err *e)
{
    for (int i = first; i <= last; i++)
        /* "0" is the writer itself: no look-up, and on v1 no lock over all of the machine's threads */
        if (write(c->join_fd[i], "0", 1) != 1)
            return err_set(e, ERR_KERNEL, errno, "join the cgroup");
    return 0;
}

int cgroup_join(const struct cgroup *c, bool cloned_into, struct err *e)
{
    if (c->host->version == 2)
        return cloned_into ? 0 : join_slots(c, 0, 0, e);
    return join_slots(c, CGROUP_MEMORY, CGROUP_PIDS, e);
}

int cgroup_join_cpu(const struct cgroup *c, struct err *e)
{
    return c->host->version == 2 ? 0 : join_slots(c, CGROUP_CPU, CGROUP_CPUACCT, e);
}

/* The number behind `key` in a file of "key number" lines; the whole file with key NULL. */
static void read_number(int dir_fd, const char *file, const char *key, uint64_t *ret)
{
    char text[1024];
    if (fd_read_file(dir_fd, file, text, sizeof text) <= 0)
        return;
    const char *at = text;
    if (key) {
        size_t n = strlen(key);
        while (at && !(strncmp(at, key, n) == 0 && at[n] == ' ')) {
            at = strchr(at, '\n');
            at = at ? at + 1 : NULL;
        }
        if (!at)
            return;
        at += n + 1;
    }
    char *end;
    errno = 0;
    uint64_t value = strtoull(at, &end, 10);
    if (end != at && errno == 0)
        *ret = value;
}

static void raise_to(uint64_t *peak, uint64_t now)
{
    if (now > *peak)
        *peak = now;
}

static void read_v1(const struct cgroup *c, struct cgroup_stats *s)
{
    uint64_t cpu_ns = s->cpu_us * 1000, memory = 0, pids = 0;
    read_number(c->fd[CGROUP_CPUACCT], "cpuacct.usage", NULL, &cpu_ns);
    s->cpu_us = cpu_ns / 1000;
    read_number(c->fd[CGROUP_MEMORY], "memory.max_usage_in_bytes", NULL, &memory);
    raise_to(&s->memory_peak_bytes, memory);
    read_number(c->fd[CGROUP_PIDS], "pids.current", NULL, &pids);
    read_number(c->fd[CGROUP_PIDS], "pids.peak", NULL, &pids);
    raise_to(&s->pids_peak, pids);
    read_number(c->fd[CGROUP_MEMORY], "memory.oom_control", "oom_kill", &s->oom_kills);
    read_number(c->fd[CGROUP_PIDS], "pids.events", "max", &s->pids_refused);
}

static void read_v2(const struct cgroup *c, struct cgroup_stats *s)
{
    uint64_t memory = 0, pids = 0;
    read_number(c->fd[0], "cpu.stat", "usage_usec", &s->cpu_us);
    /* the peaks came with Linux 5.19 and 6.1; before, the sampled value has to do */
    read_number(c->fd[0], "memory.current", NULL, &memory);
    read_number(c->fd[0], "memory.peak", NULL, &memory);
    raise_to(&s->memory_peak_bytes, memory);
    read_number(c->fd[0], "pids.current", NULL, &pids);
    read_number(c->fd[0], "pids.peak", NULL, &pids);
    raise_to(&s->pids_peak, pids);
    read_number(c->fd[0], "memory.events", "oom_kill", &s->oom_kills);
    read_number(c->fd[0], "pids.events", "max", &s->pids_refused);
}

void cgroup_read(const struct cgroup *c, struct cgroup_stats *stats)
{
    if (c->host->version == 1)
        read_v1(c, stats);
    else
        read_v2(c, stats);
}

static const struct {
    enum cgroup_slot slot;
    const char *file, *text;
} haste_v1[] = { { CGROUP_CPU, "cpu.cfs_quota_us", "-1" }, { CGROUP_CPU, "cpu.shares", "262144" } },
  haste_v2[] = { { 0, "cgroup.kill", "1" }, { 0, "cpu.max", "max" }, { 0, "cpu.weight", "10000" } };

void cgroup_kill(const struct cgroup *c)
{
    struct err ignored;
    for (size_t i = 0; c->host->version == 1 && i < sizeof haste_v1 / sizeof haste_v1[0]; i++)
        (void)!fd_write_file(c->fd[haste_v1[i].slot], haste_v1[i].file, haste_v1[i].text, &ignored);
    for (size_t i = 0; c->host->version == 2 && i < sizeof haste_v2 / sizeof haste_v2[0]; i++)
        (void)!fd_write_file(c->fd[haste_v2[i].slot], haste_v2[i].file, haste_v2[i].text, &ignored);
}

int cgroup_remove(struct cgroup *c)
{
    char name[32];
    int busy = 0;
    jar_name(c->number, name, sizeof name);
    close_all(c);
    for (int i = 0; i < c->host->slots; i++)
        if (unlinkat(c->host->fd[i], name, AT_REMOVEDIR) < 0 && errno == EBUSY)
            busy = 1;
    return busy ? -1 : 0;
}
