#include "jar/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"

/* A CPU period of 20 ms keeps throttled programs responsive. Shares below 5 % would need a quota
 * under the kernel's minimum of 1 ms, so they get the usual 100 ms. */
static void cpu_quota(uint64_t percent, uint64_t *ret_quota_us, uint64_t *ret_period_us)
{
    *ret_period_us = percent < 5 ? 100000 : 20000;
    *ret_quota_us = *ret_period_us * percent / 100;
}

/* One row for each write. `optional`: the limit holds even if the kernel lacks this file. */
struct setting {
    enum cgroup_slot slot;
    const char *file;
    enum {
        SET_MEMORY,
        SET_MEMORY_AND_SWAP,
        SET_SWAP,
        SET_SWAPPINESS,
        SET_BUFFERS,
        SET_PIDS,
        SET_PERIOD,
        SET_QUOTA,
        SET_CPU_MAX,
        SET_ONE
    } value;
    bool optional;
    unsigned needs; /* CGROUP_HAS_… */
};

static const struct setting settings_v1[] = {
    { CGROUP_MEMORY, "memory.limit_in_bytes", SET_MEMORY, false, CGROUP_HAS_MEMORY },
    /* memory plus swap; a kernel that does not account swap lacks it */
    { CGROUP_MEMORY, "memory.memsw.limit_in_bytes", SET_MEMORY_AND_SWAP, true, CGROUP_HAS_MEMORY },
    { CGROUP_MEMORY, "memory.swappiness", SET_SWAPPINESS, true, CGROUP_HAS_MEMORY },
    /* v1 counts socket buffers of TCP and UDP separately: they are beyond the limit on memory */
    { CGROUP_MEMORY, "memory.kmem.tcp.limit_in_bytes", SET_BUFFERS, true, CGROUP_HAS_MEMORY },
    { CGROUP_PIDS, "pids.max", SET_PIDS, false, CGROUP_HAS_PIDS },
    { CGROUP_CPU, "cpu.cfs_period_us", SET_PERIOD, false, CGROUP_HAS_CPU },
    { CGROUP_CPU, "cpu.cfs_quota_us", SET_QUOTA, false, CGROUP_HAS_CPU },
};
static const struct setting settings_v2[] = {
    { 0, "memory.max", SET_MEMORY, false, CGROUP_HAS_MEMORY },
    { 0, "memory.swap.max", SET_SWAP, true, CGROUP_HAS_MEMORY },
    { 0, "memory.oom.group", SET_ONE, false, CGROUP_HAS_MEMORY },
    { 0, "pids.max", SET_PIDS, false, CGROUP_HAS_PIDS },
    { 0, "cpu.max", SET_CPU_MAX, false, CGROUP_HAS_CPU },
};

enum {
    BUFFERS_MAX = 6 << 20,
    SWAPPINESS = 60, /* of the kernel */
    SHARES = 1024,   /* of the kernel, which are a weight of WEIGHT on v2 */
    WEIGHT = 100,
    WEIGHT_MAX = 10000,
    YIELD = 8, /* a cgroup that yields has so many times fewer */
};

static void setting_text(const struct setting *s, const struct limits *l, unsigned spare_pids,
                         char *out, size_t size)
{
    uint64_t quota, period;
    cpu_quota(l->v[LIMIT_CPU_PERCENT], &quota, &period);
    const uint64_t values[] = {
        [SET_MEMORY] = l->v[LIMIT_MEMORY],
        [SET_MEMORY_AND_SWAP] = l->v[LIMIT_MEMORY] + l->v[LIMIT_MEMORY_SWAP],
        [SET_SWAP] = l->v[LIMIT_MEMORY_SWAP],
        [SET_SWAPPINESS] = l->v[LIMIT_MEMORY_SWAP] > 0 ? SWAPPINESS : 0,
        [SET_BUFFERS] = l->v[LIMIT_MEMORY] < BUFFERS_MAX ? l->v[LIMIT_MEMORY] : BUFFERS_MAX,
        [SET_PIDS] = l->v[LIMIT_PIDS] + spare_pids,
        [SET_PERIOD] = period,
        [SET_QUOTA] = quota,
        [SET_CPU_MAX] = quota,
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

void cgroup_close(struct cgroup *c)
{
    for (int i = 0; i < CGROUP_SLOTS; i++) {
        fd_close(&c->fd[i]);
        fd_close(&c->join_fd[i]);
    }
    for (int i = 0; i < CGROUP_STATS; i++)
        fd_close(&c->stat_fd[i]);
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

static const struct setting *settings_of(const struct cgroup *c, size_t *ret_n)
{
    bool v1 = c->host->version == 1;
    *ret_n = v1 ? ARRAY_LEN(settings_v1) : ARRAY_LEN(settings_v2);
    return v1 ? settings_v1 : settings_v2;
}

static int apply_setting(const struct cgroup *c, const struct setting *s,
                         const struct limits *limits, unsigned spare_pids, struct err *e)
{
    char text[64];
    if (!(c->host->has & s->needs))
        return 0;
    setting_text(s, limits, spare_pids, text, sizeof text);
    if (fd_write_file(c->fd[s->slot], s->file, text, e) && !(s->optional && e->sys == ENOENT))
        return err_wrap(e, "set a limit");
    return 0;
}

/* Writes the share if it is not the current one. */
static int apply_shares(struct cgroup *c, struct err *e)
{
    char text[32];
    bool first = c->host->version == 1;
    uint64_t wanted = c->limits.v[LIMIT_CPU_SHARES] / (c->yields ? YIELD : 1);
    uint64_t weight = wanted * WEIGHT / SHARES;
    if (wanted < limit_defs[LIMIT_CPU_SHARES].min)
        wanted = limit_defs[LIMIT_CPU_SHARES].min;
    if (wanted == c->shares || !(c->host->has & CGROUP_HAS_CPU))
        return 0;
    weight = weight < 1 ? 1 : weight > WEIGHT_MAX ? WEIGHT_MAX : weight;
    (void)snprintf(text, sizeof text, "%" PRIu64, first ? wanted : weight);
    if (fd_write_file(c->fd[first ? CGROUP_CPU : 0], first ? "cpu.shares" : "cpu.weight", text, e))
        return err_wrap(e, "set a limit");
    c->shares = wanted;
    return 0;
}

static int apply_limits(struct cgroup *c, const struct limits *limits, unsigned spare_pids,
                        struct err *e)
{
    size_t n;
    const struct setting *rows = settings_of(c, &n);
    for (size_t i = 0; i < n; i++)
        if (apply_setting(c, &rows[i], limits, spare_pids, e))
            return -1;
    c->limits = *limits;
    return apply_shares(c, e);
}

static bool same_setting(const struct setting *s, const struct limits *a, const struct limits *b)
{
    char one[64], other[64];
    setting_text(s, a, 0, one, sizeof one);
    setting_text(s, b, 0, other, sizeof other);
    return strcmp(one, other) == 0;
}

/* A memory limit below the current use: v1 refuses it, v2 accepts it and kills processes. */
static int check_room(struct cgroup *c, const struct limits *limits, struct err *e)
{
    uint64_t held = 0, pids;
    if (c->host->version == 2 && (c->host->has & CGROUP_HAS_MEMORY))
        cgroup_read_now(c, &held, &pids);
    if (held > limits->v[LIMIT_MEMORY])
        return err_set(e, ERR_KERNEL, EBUSY, "set a limit: memory.max, below the %" PRIu64 " held",
                       held);
    return 0;
}

int cgroup_set_limits(struct cgroup *c, const struct limits *limits, unsigned spare_pids,
                      struct err *e)
{
    size_t n;
    const struct setting *rows = settings_of(c, &n);
    if (check_room(c, limits, e))
        return -1;
    /* memory.memsw may never be below memory: it goes first when limits rise */
    bool backwards = limits->v[LIMIT_MEMORY] > c->limits.v[LIMIT_MEMORY];
    for (size_t i = 0; i < n; i++) {
        const struct setting *s = &rows[backwards ? n - 1 - i : i];
        if (!same_setting(s, &c->limits, limits) && apply_setting(c, s, limits, spare_pids, e))
            return -1;
    }
    c->limits = *limits;
    return apply_shares(c, e);
}

int cgroup_new(const struct cgroup_host *h, uint64_t number, const struct limits *limits,
               unsigned spare_pids, struct cgroup *ret, struct err *e)
{
    struct cgroup c = { .host = h, .number = number, .shares = SHARES };
    for (int i = 0; i < CGROUP_SLOTS; i++)
        c.fd[i] = c.join_fd[i] = -1;
    for (int i = 0; i < CGROUP_STATS; i++)
        c.stat_fd[i] = -1;
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
        /* "0" is the writer itself: no look-up, and on v1 no lock over all threads of the
         * machine */
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

/* The file of each counter; with a key, a file of "key number" lines. */
static const struct stat_file {
    enum cgroup_slot slot;
    const char *file, *key;
} stat_files[2][CGROUP_STATS] = {
    {
        [STAT_CPU] = { CGROUP_CPUACCT, "cpuacct.usage", NULL }, /* in nanoseconds */
        [STAT_MEMORY_NOW] = { CGROUP_MEMORY, "memory.usage_in_bytes", NULL },
        [STAT_MEMORY_PEAK] = { CGROUP_MEMORY, "memory.max_usage_in_bytes", NULL },
        [STAT_PIDS_NOW] = { CGROUP_PIDS, "pids.current", NULL },
        [STAT_PIDS_PEAK] = { CGROUP_PIDS, "pids.peak", NULL },
        [STAT_OOM_KILLS] = { CGROUP_MEMORY, "memory.oom_control", "oom_kill" },
        [STAT_PIDS_REFUSED] = { CGROUP_PIDS, "pids.events", "max" },
        [STAT_BUFFERS] = { CGROUP_MEMORY, "memory.kmem.tcp.usage_in_bytes", NULL },
        [STAT_KERNEL] = { CGROUP_MEMORY, "memory.kmem.usage_in_bytes", NULL },
    },
    {
        /* the peaks came with Linux 5.19 and 6.1; older kernels use the sampled value */
        [STAT_CPU] = { 0, "cpu.stat", "usage_usec" },
        [STAT_MEMORY_NOW] = { 0, "memory.current", NULL },
        [STAT_MEMORY_PEAK] = { 0, "memory.peak", NULL },
        [STAT_PIDS_NOW] = { 0, "pids.current", NULL },
        [STAT_PIDS_PEAK] = { 0, "pids.peak", NULL },
        [STAT_OOM_KILLS] = { 0, "memory.events", "oom_kill" },
        [STAT_PIDS_REFUSED] = { 0, "pids.events", "max" },
        [STAT_KERNEL] = { 0, "memory.stat", "kernel" }, /* since Linux 5.18 */
    },
};

/* The text behind the key; NULL when there is none. */
static const char *behind_key(const char *text, const char *key)
{
    size_t n = key ? strlen(key) : 0;
    while (key && text && !(strncmp(text, key, n) == 0 && text[n] == ' ')) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text && key ? text + n + 1 : text;
}

/* A value that cannot be read stays as it was. */
static void read_stat(struct cgroup *c, enum cgroup_stat which, uint64_t *ret)
{
    const struct stat_file *f = &stat_files[c->host->version == 2][which];
    char text[1024];
    if (c->stat_fd[which] == -1) {
        c->stat_fd[which] = openat(c->fd[f->slot], f->file, O_RDONLY | O_CLOEXEC);
        if (c->stat_fd[which] < 0)
            c->stat_fd[which] = -2;
    }
    ssize_t n = c->stat_fd[which] >= 0 ? pread(c->stat_fd[which], text, sizeof text - 1, 0) : -1;
    if (n <= 0)
        return;
    text[n] = '\0';
    const char *at = behind_key(text, f->key);
    char *end;
    errno = 0;
    uint64_t value = at ? strtoull(at, &end, 10) : 0;
    if (at && end != at && errno == 0)
        *ret = value;
}

static void raise_to(uint64_t *peak, uint64_t now)
{
    if (now > *peak)
        *peak = now;
}

void cgroup_read_cpu(struct cgroup *c, struct cgroup_stats *s)
{
    uint64_t in_a_us = c->host->version == 1 ? 1000 : 1, cpu = s->cpu_us * in_a_us;
    read_stat(c, STAT_CPU, &cpu);
    s->cpu_us = cpu / in_a_us;
}

void cgroup_read(struct cgroup *c, struct cgroup_stats *s)
{
    uint64_t memory = 0, pids = 0;
    cgroup_read_cpu(c, s);
    read_stat(c, STAT_MEMORY_PEAK, &memory);
    if (memory == 0)
        read_stat(c, STAT_MEMORY_NOW, &memory);
    raise_to(&s->memory_peak_bytes, memory);
    read_stat(c, STAT_PIDS_NOW, &pids);
    s->pids_now = pids;
    read_stat(c, STAT_PIDS_PEAK, &pids);
    raise_to(&s->pids_peak, pids);
    read_stat(c, STAT_OOM_KILLS, &s->oom_kills);
    read_stat(c, STAT_PIDS_REFUSED, &s->pids_refused);
}

bool cgroup_reset_peak(struct cgroup *c)
{
    struct err ignored;
    return c->host->version == 1 &&
           fd_write_file(c->fd[CGROUP_MEMORY], "memory.max_usage_in_bytes", "0", &ignored) == 0;
}

uint64_t cgroup_read_peak(struct cgroup *c)
{
    uint64_t bytes = 0;
    read_stat(c, STAT_MEMORY_PEAK, &bytes);
    return bytes;
}

void cgroup_kill_one(struct cgroup *c)
{
    struct err ignored;
    if (c->host->version == 2)
        (void)!fd_write_file(c->fd[0], "memory.oom.group", "0", &ignored);
}

void cgroup_read_now(struct cgroup *c, uint64_t *memory_bytes, uint64_t *pids)
{
    read_stat(c, STAT_MEMORY_NOW, memory_bytes);
    read_stat(c, STAT_PIDS_NOW, pids);
}

uint64_t cgroup_read_buffers(struct cgroup *c)
{
    uint64_t bytes = 0;
    if (c->host->version == 1)
        read_stat(c, STAT_BUFFERS, &bytes);
    return bytes;
}

uint64_t cgroup_read_kernel(struct cgroup *c)
{
    uint64_t bytes = 0;
    read_stat(c, STAT_KERNEL, &bytes);
    return bytes;
}

/* Kernel memory that a small program leaves, and that is freed a moment later. */
enum { LEFT_OVER_BYTES = 512 << 10 };

bool cgroup_renew(struct cgroup *c, const struct limits *limits, unsigned spare_pids)
{
    static const struct {
        enum cgroup_slot slot;
        const char *file;
    } resets[] = {
        { CGROUP_CPUACCT, "cpuacct.usage" },
        { CGROUP_MEMORY, "memory.max_usage_in_bytes" },
    };
    struct err e = { 0 };
    uint64_t memory = UINT64_MAX;
    struct cgroup_stats now = { 0 };
    if (c->host->version != 1 || c->host->has != CGROUP_HAS_ALL || c->hastened)
        return false;
    cgroup_yield(c, false);
    read_stat(c, STAT_MEMORY_NOW, &memory);
    if (memory > LEFT_OVER_BYTES)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(resets); i++)
        if (fd_write_file(c->fd[resets[i].slot], resets[i].file, "0", &e))
            return false;
    if (cgroup_set_limits(c, limits, spare_pids, &e))
        return false;
    cgroup_read(c, &now);
    /* the peak of processes cannot be reset, but every run reaches this value */
    return now.pids_now == 0 && now.pids_peak <= spare_pids + 1 && now.oom_kills == 0 &&
           now.pids_refused == 0 && now.cpu_us == 0 && now.memory_peak_bytes <= LEFT_OVER_BYTES;
}

void cgroup_yield(struct cgroup *c, bool yields)
{
    struct err ignored;
    c->yields = yields;
    (void)!apply_shares(c, &ignored);
}

size_t cgroup_list(const struct cgroup *c, pid_t *pids, size_t most)
{
    size_t n = 0;
    char line[32];
    int fd = openat(c->fd[c->host->version == 1 ? CGROUP_MEMORY : 0], "cgroup.procs",
                    O_RDONLY | O_CLOEXEC);
    FILE *list = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!list) {
        fd_close(&fd);
        return 0;
    }
    while (n < most && fgets(line, sizeof line, list))
        pids[n++] = (pid_t)strtol(line, NULL, 10);
    (void)fclose(list);
    return n;
}

void cgroup_host_hasten(struct cgroup_host *h, bool on)
{
    struct err ignored;
    bool first = h->version == 1;
    bool was = h->hastening > 0;
    h->hastening += on ? 1 : -1;
    if (was == (h->hastening > 0) || !(h->has & CGROUP_HAS_CPU))
        return;
    (void)!fd_write_file(h->fd[first ? CGROUP_CPU : 0], first ? "cpu.shares" : "cpu.weight",
                         on      ? first ? "262144" : "10000"
                         : first ? "1024"
                                 : "100",
                         &ignored);
}

/* Descriptors that the warden has room for, and processes of ours in a jar. */
enum { SIGNALS_AT_ONCE = 128, SPARE_PIDS = 16 };

static const struct {
    enum cgroup_slot slot;
    const char *file, *text;
} haste_v1[] = { { CGROUP_CPU, "cpu.cfs_quota_us", "-1" }, { CGROUP_CPU, "cpu.shares", "262144" } },
  haste_v2[] = { { 0, "cgroup.kill", "1" }, { 0, "cpu.max", "max" }, { 0, "cpu.weight", "10000" } };

static int compare_pids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

/* A process that died meanwhile may have left its pid to a process of the host. So a pidfd is signalled
 * only if the cgroup still has that pid afterwards: then the pidfd is of that process, or of a dead
 * one. */
static void signal_these(const struct cgroup *c, const pid_t *pids, size_t n, pid_t *again,
                         size_t most)
{
    int pidfds[SIGNALS_AT_ONCE];
    for (size_t i = 0; i < n; i++)
        pidfds[i] = pidfd_open(pids[i], 0);
    size_t left = cgroup_list(c, again, most);
    qsort(again, left, sizeof *again, compare_pids);
    for (size_t i = 0; i < n; i++) {
        if (pidfds[i] >= 0 && bsearch(&pids[i], again, left, sizeof *again, compare_pids))
            (void)pidfd_send_signal(pidfds[i], SIGKILL, NULL, 0);
        fd_close(&pidfds[i]);
    }
}

/* The death of init kills the others too, but only once init gets to run. Hundreds of processes that
 * work go on until then, and each page that they touch makes their end later. */
static void signal_all(const struct cgroup *c)
{
    size_t most = c->limits.v[LIMIT_PIDS] + SPARE_PIDS;
    autofree pid_t *pids = calloc(2 * most, sizeof *pids);
    size_t n = pids ? cgroup_list(c, pids, most) : 0;
    for (size_t i = 0; i < n; i += SIGNALS_AT_ONCE)
        signal_these(c, pids + i, n - i < SIGNALS_AT_ONCE ? n - i : SIGNALS_AT_ONCE, pids + most,
                     most);
}

void cgroup_kill(struct cgroup *c)
{
    struct err ignored;
    c->hastened = true;
    if (c->host->version == 1)
        signal_all(c);
    for (size_t i = 0; c->host->version == 1 && i < ARRAY_LEN(haste_v1); i++)
        (void)!fd_write_file(c->fd[haste_v1[i].slot], haste_v1[i].file, haste_v1[i].text, &ignored);
    for (size_t i = 0; c->host->version == 2 && i < ARRAY_LEN(haste_v2); i++)
        (void)!fd_write_file(c->fd[haste_v2[i].slot], haste_v2[i].file, haste_v2[i].text, &ignored);
}

void cgroup_empty(struct cgroup *c)
{
    bool first = c->host->version == 1;
    char text[32] = "0";
    struct err ignored;
    if (!first) /* in bytes: it was never charged for more */
        (void)snprintf(text, sizeof text, "%" PRIu64, c->limits.v[LIMIT_MEMORY]);
    (void)!fd_write_file(c->fd[first ? CGROUP_MEMORY : 0],
                         first ? "memory.force_empty" : "memory.reclaim", text, &ignored);
}

int cgroup_remove(struct cgroup *c)
{
    char name[32];
    int busy = 0;
    jar_name(c->number, name, sizeof name);
    cgroup_close(c);
    for (int i = 0; i < c->host->slots; i++)
        if (unlinkat(c->host->fd[i], name, AT_REMOVEDIR) < 0 && errno == EBUSY)
            busy = 1;
    return busy ? -1 : 0;
}
