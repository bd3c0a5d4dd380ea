/* bench/part_memory.c — the memory of an idle service, and of each waiting embryo. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "bench/bench.h"
#include "bench/die.h"
#include "bench/host.h"
#include "bench/load.h"

/* Kinds of pools as in /v1/stats, their budgets, and a program that uses them: some pools are
 * filled only on use. */
static const struct kind {
    const char *name, *budget;
    enum workload_id asks;
} kinds[] = {
    { "python", "embryo_python_mib", WORK_PYTHON },
    { "python-data", "embryo_data_mib", WORK_DATA },
    { "node", NULL, WORK_NODE },
    { "bash", NULL, WORK_BASH },
};
enum { KINDS = ARRAY_LEN(kinds), ASKED = 3 };

static const struct kind *kind_find(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static void ask_for(struct bench *b, const struct bench_service *s, const struct kind *kind)
{
    struct load_client *v = load_client_new(s->port);
    for (size_t i = 0; i < ASKED && !b->absent[kind->asks]; i++)
        (void)load_client_run(v, &b->programs[kind->asks], NULL);
    load_client_free(v);
}

static bool at_rest(struct bench *b)
{
    struct bench_service *s = bench_service(b, SERVICE_COLD);
    struct service_parts parts;
    struct host_memory keeper, warden, supervisor;
    service_settle(s);
    if (!service_parts(s, &parts) || !host_memory(parts.keeper, &keeper) ||
        !host_memory(parts.warden, &warden) || !host_memory(s->pid, &supervisor))
        return false;
    report_fact(b->report, "keeper, at rest, no pools", keeper.share_mib, "MiB");
    report_fact(b->report, "warden, at rest, no pools", warden.share_mib, "MiB");
    report_fact(b->report, "supervisor, at rest, no pools", supervisor.share_mib, "MiB");
    report_metric(b->report, "at_rest_mib", keeper.share_mib + warden.share_mib);
    return true;
}

/* True for a process that waits in its own jar: below the warden, one pid namespace deeper, and not
 * the init of that namespace. Zygotes are in the warden's own namespace. An idle service has no
 * other processes there. */
static bool is_embryo(const struct service_parts *parts, const struct host_process *p)
{
    long outer[HOST_NESTED_MAX], inner[HOST_NESTED_MAX];
    size_t deep = host_nested(p->pid, inner);
    return p->parent == parts->warden && deep == host_nested(parts->warden, outer) + 1 &&
           inner[deep - 1] != 1;
}

struct embryos {
    size_t n;
    double sum_mib, largest_mib;
};

static struct embryos look_at_embryos(const struct bench_service *s)
{
    struct embryos found = { 0 };
    struct service_parts parts;
    autofree struct host_tree *t = calloc(1, sizeof *t);
    if (!t)
        bench_die("memory", NULL);
    host_tree(s->pid, t);
    for (size_t i = 0; service_parts(s, &parts) && i < t->n; i++) {
        struct host_memory m;
        if (!is_embryo(&parts, &t->all[i]) || !host_memory(t->all[i].pid, &m))
            continue;
        found.largest_mib = m.private_mib > found.largest_mib ? m.private_mib : found.largest_mib;
        found.sum_mib += m.private_mib;
        found.n++;
    }
    return found;
}

/* A service with embryos of this kind alone. */
static void tell_embryos(struct bench *b, const char *kind)
{
    struct bench_service s;
    char text[160], name[80];
    const struct kind *known = kind_find(kind);
    (void)snprintf(text, sizeof text, "pools.preload=%s", kind);
    (void)snprintf(name, sizeof name, "preload-%s", kind);
    service_start(&s, &b->site, name, SERVICE_WARM, text);
    service_settle(&s);
    if (known) {
        ask_for(b, &s, known);
        service_settle(&s);
    }
    struct embryos found = look_at_embryos(&s);
    service_stop(&s);
    if (found.n == 0) {
        (void)snprintf(text, sizeof text, "memory of embryos of kind %s: none waits", kind);
        report_skip(b->report, text);
        return;
    }
    (void)snprintf(text, sizeof text, "waiting embryo, %s, private, mean of %zu", kind, found.n);
    report_fact(b->report, text, found.sum_mib / (double)found.n, "MiB");
    (void)snprintf(text, sizeof text, "waiting embryo, %s, private, the largest", kind);
    report_fact(b->report, text, found.largest_mib, "MiB");
    if (known && known->budget)
        report_metric(b->report, known->budget, found.largest_mib);
}

void part_memory(struct bench *b)
{
    const char *kind;
    json_t *pool;
    bench_stop_services(b); /* new services, which have run nothing */
    report_facts(b->report, "memory");
    if (!at_rest(b))
        report_skip(b->report, "memory of the service: we may not look (run as root)");
    json_t *all = service_pools(bench_service(b, SERVICE_WARM));
    if (!all)
        report_skip(b->report, "memory of embryos: the service has no pools here");
    json_object_foreach(all, kind, pool) {
        tell_embryos(b, kind);
    }
    json_decref(all);
}
