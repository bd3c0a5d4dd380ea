#include "bench/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/process.h"
#include "bench/die.h"

void host_use_two_cores(void)
{
    cpu_set_t may, two;
    CPU_ZERO(&two);
    if (sched_getaffinity(0, sizeof may, &may) < 0)
        bench_die("sched_getaffinity", NULL);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; cpu++)
        if (CPU_ISSET(cpu, &may))
            CPU_SET(cpu, &two);
    if (sched_setaffinity(0, sizeof two, &two) < 0)
        bench_die("sched_setaffinity", NULL);
}

void host_use_many_files(void)
{
    if (process_raise_open_files())
        bench_die("setrlimit", NULL);
}

/* Of /proc/PID/stat. The name is in parentheses and may contain anything. */
static bool read_process(pid_t pid, struct host_process *ret)
{
    char path[64], text[1024];
    long parent;
    unsigned long user, sys, child_user, child_sys;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0)
        return false;
    char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (!name || !end ||
        sscanf(end + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &parent,
               &user, &sys, &child_user, &child_sys) != 5)
        return false;
    *end = '\0';
    *ret = (struct host_process){ .pid = pid, .parent = (pid_t)parent };
    (void)snprintf(ret->name, sizeof ret->name, "%s", name + 1);
    ret->cpu_ms = (double)(user + sys + child_user + child_sys) * 1000 /
                  (double)sysconf(_SC_CLK_TCK);
    return true;
}

static bool contains(const struct host_tree *t, size_t n, pid_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (t->all[i].pid == pid)
            return true;
    return false;
}

static size_t read_all(struct host_process *all, size_t max)
{
    size_t n = 0;
    autodir DIR *proc = opendir("/proc");
    if (!proc)
        bench_die("/proc", NULL);
    for (struct dirent *entry; n < max && (entry = readdir(proc));) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid > 0 && !*end && read_process((pid_t)pid, &all[n]))
            n++;
    }
    return n;
}

void host_tree(pid_t root, struct host_tree *ret)
{
    enum { HOST_MAX = 32768 };
    autofree struct host_process *all = calloc(HOST_MAX, sizeof *all);
    if (!all)
        bench_die("memory", NULL);
    size_t n = read_all(all, HOST_MAX);
    ret->n = 0;
    if (!read_process(root, &ret->all[ret->n++]))
        bench_dief("the service (process %d) is gone", (int)root);
    for (size_t before = 0; before < ret->n;) { /* one generation after the other */
        size_t after = ret->n;
        for (size_t i = 0; i < n && ret->n < HOST_TREE_MAX; i++)
            for (size_t k = before; k < after; k++)
                if (all[i].parent == ret->all[k].pid && !contains(ret, ret->n, all[i].pid)) {
                    ret->all[ret->n++] = all[i];
                    break;
                }
        before = after;
    }
}

double host_tree_cpu_ms(pid_t root)
{
    double sum = 0;
    autofree struct host_tree *t = calloc(1, sizeof *t);
    if (!t)
        bench_die("memory", NULL);
    host_tree(root, t);
    for (size_t i = 0; i < t->n; i++)
        sum += t->all[i].cpu_ms;
    return sum;
}

size_t host_nested(pid_t pid, long ret[HOST_NESTED_MAX])
{
    static const char name[] = "\nNSpid:";
    char path[64], text[4096];
    size_t n = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0)
        return 0;
    char *at = strstr(text, name);
    if (!at)
        return 0;
    for (at += sizeof name - 1; n < HOST_NESTED_MAX; n++) {
        at += strspn(at, " \t");
        if (*at == '\n' || *at == '\0')
            break;
        ret[n] = strtol(at, &at, 10);
    }
    return n;
}

static double field_mib(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) / 1024 : 0;
}

bool host_memory(pid_t pid, struct host_memory *ret)
{
    char path[64], text[4096];
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0)
        return false;
    *ret = (struct host_memory){
        .private_mib = field_mib(text, "Private_Clean:") + field_mib(text, "Private_Dirty:"),
        .share_mib = field_mib(text, "Pss:"),
    };
    return true;
}
