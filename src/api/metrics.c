#include "api/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "config.h"
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

static uint64_t open_fds(void)
{
    uint64_t n = 0;
    autodir DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    return n > 3 ? n - 3 : 0; /* ".", ".." and the directory itself */
}

static int verdicts_write(const struct runner_counts *runs, struct buf *b, struct err *e)
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

int metrics_write(const struct api *api, struct buf *b, struct err *e)
{
    struct runner_counts runs = runner_counts(api->runner);
    struct http_counts http = http_server_counts(api->http);
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } rows[] = {
        { "runs_accepted_total", "counter", "runs taken in", runs.accepted },
        { "runs_refused_total", "counter", "runs refused because the queue was full",
          runs.refused },
        { "runs_running", "gauge", "runs that hold a jar", runs.running },
        { "runs_queued", "gauge", "runs that wait for a jar", runs.queued },
        { "runs_held", "gauge", "runs that wait for an approval", runs.held },
        { "warden_losses_total", "counter", "wardens that went away", runs.warden_losses },
        { "warden_up", "gauge", "1 while there is a warden",
          runner_isolation(api->runner) != NULL },
        { "http_connections", "gauge", "open connections", http.connections },
        { "http_accepted_total", "counter", "connections accepted", http.accepted },
        { "http_requests_total", "counter", "requests", http.requests },
        { "http_refused_total", "counter", "requests refused by the server itself", http.refused },
        { "http_timed_out_total", "counter", "connections that were too slow", http.timed_out },
        { "store_pending", "gauge", "jobs the store has not done yet", store_pending(api->store) },
        { "uptime_seconds", "gauge", "since the service started",
          (uint64_t)(clock_unix_ms() - api->started_ms) / 1000 },
        { "process_resident_memory_bytes", "gauge", "of this process", resident_bytes() },
        { "process_open_fds", "gauge", "of this process", open_fds() },
    };
    if (buf_addf(b, e,
                 "# HELP belljar_info the version\n# TYPE belljar_info gauge\n"
                 "belljar_info{version=\"%s\"} 1\n",
                 BELLJAR_VERSION) ||
        verdicts_write(&runs, b, e))
        return -1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (buf_addf(b, e, "# HELP belljar_%s %s\n# TYPE belljar_%s %s\nbelljar_%s %" PRIu64 "\n",
                     rows[i].name, rows[i].help, rows[i].name, rows[i].type, rows[i].name,
                     rows[i].value))
            return -1;
    return 0;
}
