#include "api/meta/metrics.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "config.h"
#include "session/session.h"
#include "spec/verdict.h"

static uint64_t resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return 0;
    if (fscanf(f, "%*u %lu", &pages) != 1)
        pages = 0;
    (void)fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The number in this column of the line that begins with the word; 0 when there is none. */
static uint64_t number_in(const char *path, const char *word, int column)
{
    char text[4096];
    ssize_t n = fd_read_file(AT_FDCWD, path, text, sizeof text);
    const char *at = n > 0 ? strstr(text, word) : NULL;
    for (; at && column > 1; column--) {
        at += strcspn(at, " \t");
        at += strspn(at, " \t");
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

static uint64_t open_fds(void)
{
    uint64_t n = 0;
    autodir DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    return n > 3 ? n - 3 : 0; /* ".", ".." and the directory itself */
}

static int verdicts_write(const struct engine_counts *runs, struct buf *b, struct err *e)
{
    if (buf_addf(b, e,
                 "# HELP belljar_runs_total runs that ended, by verdict\n"
                 "# TYPE belljar_runs_total counter\n"))
        return -1;
    for (int i = 0; i < VERDICT_COUNT_; i++)
        if (buf_addf(b, e, "belljar_runs_total{verdict=\"%s\"} %" PRIu64 "\n",
                     verdict_word((enum verdict)i), runs->finished[i]))
            return -1;
    return 0;
}

static int network_write(const struct engine_counts *runs, struct buf *b, struct err *e)
{
    if (buf_addf(b, e,
                 "# HELP belljar_network_connections_total connections of runs that ended, and "
                 "refused ones, by outcome\n# TYPE belljar_network_connections_total counter\n"))
        return -1;
    for (int i = NETWORK_OPEN + 1; i < NETWORK_OUTCOME_COUNT_; i++)
        if (buf_addf(b, e, "belljar_network_connections_total{outcome=\"%s\"} %" PRIu64 "\n",
                     network_outcome_word((enum network_outcome)i), runs->network_outcomes[i]))
            return -1;
    return buf_addf(b, e,
                    "# HELP belljar_network_bytes_total bytes of those connections\n"
                    "# TYPE belljar_network_bytes_total counter\n"
                    "belljar_network_bytes_total{direction=\"in\"} %" PRIu64 "\n"
                    "belljar_network_bytes_total{direction=\"out\"} %" PRIu64 "\n",
                    runs->network_in, runs->network_out);
}

/* One family with a sample for each kind. */
struct pool_family {
    const char *name, *type, *help;
    uint64_t (*value)(const struct engine_pools *p, size_t i);
};

#define OF_STATE(member)                                                \
    static uint64_t member##_of(const struct engine_pools *p, size_t i) \
    {                                                                   \
        return p->kinds[i].state.member;                                \
    }
OF_STATE(ready)
OF_STATE(building)
OF_STATE(forks)
OF_STATE(zygotes)
OF_STATE(deaths)
OF_STATE(discarded)
#undef OF_STATE

static uint64_t target_of(const struct engine_pools *p, size_t i)
{
    return p->kinds[i].target;
}

static uint64_t up_of(const struct engine_pools *p, size_t i)
{
    return p->kinds[i].state.zygote == ZYGOTE_UP;
}

static const struct pool_family pool_families[] = {
    { "pool_ready", "gauge", "embryos that wait for a job", ready_of },
    { "pool_building", "gauge", "embryos that are not ready yet", building_of },
    { "pool_target", "gauge", "wanted number of waiting embryos", target_of },
    { "zygote_up", "gauge", "1 while the zygote is up", up_of },
    { "zygote_forks_total", "counter", "forks of zygotes", forks_of },
    { "zygotes_total", "counter", "zygotes that were booted", zygotes_of },
    { "zygote_deaths_total", "counter", "zygotes that ended by themselves", deaths_of },
    { "pool_discarded_total", "counter", "embryos that were never used", discarded_of },
};

static int starts_write(const struct engine_pools *p, struct buf *b, struct err *e)
{
    if (buf_addf(b, e,
                 "# HELP belljar_starts_total programs that started, by kind "
                 "and kind of start\n# TYPE belljar_starts_total counter\n"))
        return -1;
    for (size_t kind = 0; kind <= p->n; kind++)
        for (int s = 0; s < START_COUNT_; s++)
            if (buf_addf(b, e, "belljar_starts_total{kind=\"%s\",start=\"%s\"} %" PRIu64 "\n",
                         kind == 0 ? "none" : p->kinds[kind - 1].name, start_word((enum start)s),
                         p->starts[kind][s]))
                return -1;
    return 0;
}

static int pools_write(const struct engine_pools *p, struct buf *b, struct err *e)
{
    for (size_t f = 0; f < ARRAY_LEN(pool_families); f++) {
        const struct pool_family *row = &pool_families[f];
        if (buf_addf(b, e, "# HELP belljar_%s %s\n# TYPE belljar_%s %s\n", row->name, row->help,
                     row->name, row->type))
            return -1;
        for (size_t i = 0; i < p->n; i++)
            if (buf_addf(b, e, "belljar_%s{kind=\"%s\"} %" PRIu64 "\n", row->name, p->kinds[i].name,
                         row->value(p, i)))
                return -1;
    }
    return starts_write(p, b, e);
}

/* A family with one sample. */
struct metric {
    const char *name, *type, *help;
    uint64_t value;
};

static int metrics_add(const struct metric *rows, size_t n, struct buf *b, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (buf_addf(b, e, "# HELP belljar_%s %s\n# TYPE belljar_%s %s\nbelljar_%s %" PRIu64 "\n",
                     rows[i].name, rows[i].help, rows[i].name, rows[i].type, rows[i].name,
                     rows[i].value))
            return -1;
    return 0;
}

static int sessions_write(const struct sessions_counts *n, struct buf *b, struct err *e)
{
    const struct metric rows[] = {
        { "sessions_total", "counter", "sessions that were created", n->created },
        { "cells_total", "counter", "cells of sessions that were accepted", n->cells },
        { "sessions_memory_bytes", "gauge",
          "memory of the jars of open sessions, each when it was last measured", n->memory_bytes },
        { "template_spares", "gauge", "programs that became a template and wait for a run",
          n->spares },
        { "template_spares_taken_total", "counter", "runs that got such a program",
          n->spares_taken },
    };
    if (buf_addf(b, e,
                 "# HELP belljar_sessions open sessions, by state\n"
                 "# TYPE belljar_sessions gauge\n"))
        return -1;
    for (int i = 0; i < SESSION_ENDED; i++)
        if (buf_addf(b, e, "belljar_sessions{state=\"%s\"} %u\n",
                     session_state_word((enum session_state)i), n->of_state[i]))
            return -1;
    return metrics_add(rows, ARRAY_LEN(rows), b, e);
}

/* Finished jars leave memory cgroups and negative dentries, which the kernel frees when it needs
 * memory. */
int metrics_write(const struct api *api, struct buf *b, struct err *e)
{
    struct engine_counts runs = engine_counts(api->engine);
    struct http_counts http = http_server_counts(api->http);
    struct engine_pools pools = engine_pools(api->engine);
    struct sessions_counts sessions = sessions_counts(api->sessions);
    const struct metric rows[] = {
        { "runs_accepted_total", "counter", "runs accepted", runs.accepted },
        { "runs_refused_total", "counter", "runs refused because the queue was full",
          runs.refused },
        { "runs_running", "gauge", "runs that hold a jar", runs.running },
        { "runs_queued", "gauge", "runs that wait for a jar", runs.queued },
        { "runs_held", "gauge", "runs that wait for an approval", runs.undecided },
        { "warden_losses_total", "counter", "wardens that were lost", runs.warden_losses },
        { "warden_up", "gauge", "1 while there is a warden",
          engine_isolation(api->engine) != NULL },
        { "compiled_total", "counter", "programs that were compiled", runs.compiled },
        { "compiles_failed_total", "counter", "programs that did not compile",
          runs.compiles_failed },
        { "compiles_spared_total", "counter", "runs whose program was in the cache",
          runs.compiles_spared },
        { "diagnoses_lost_total", "counter",
          "diagnoses and reports that were lost: the process that read them died or was late",
          runs.diagnoses_lost },
        { "memory_pressure", "gauge", "1 while memory is short, so that no embryo is kept",
          pools.short_of_memory },
        { "http_connections", "gauge", "open connections", http.connections },
        { "http_accepted_total", "counter", "connections accepted", http.accepted },
        { "http_requests_total", "counter", "requests", http.requests },
        { "http_refused_total", "counter", "requests that the HTTP server refused", http.refused },
        { "http_timed_out_total", "counter", "connections that were too slow", http.timed_out },
        { "http_gave_way_total", "counter", "idle connections that were closed for new ones",
          http.gave_way },
        { "store_pending", "gauge", "pending jobs of the store", store_pending(api->store) },
        { "uptime_seconds", "gauge", "time since the start of the service",
          (uint64_t)(clock_unix_ms() - api->started_ms) / 1000 },
        { "host_memory_cgroups", "gauge",
          "memory cgroups of the machine, with removed ones whose pages are still in memory",
          number_in("/proc/cgroups", "\nmemory", 3) },
        { "host_negative_dentries", "gauge", "names without a file that the kernel remembers",
          number_in("/proc/sys/fs/dentry-state", "", 5) },
        { "process_resident_memory_bytes", "gauge", "resident memory of the keeper",
          resident_bytes() },
        { "process_open_fds", "gauge", "open descriptors of the keeper", open_fds() },
    };
    if (buf_addf(b, e,
                 "# HELP belljar_info the version\n# TYPE belljar_info gauge\n"
                 "belljar_info{version=\"%s\"} 1\n",
                 BELLJAR_VERSION) ||
        verdicts_write(&runs, b, e) || network_write(&runs, b, e) || pools_write(&pools, b, e) ||
        sessions_write(&sessions, b, e))
        return -1;
    return metrics_add(rows, ARRAY_LEN(rows), b, e);
}
