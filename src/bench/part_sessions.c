/* bench/part_sessions.c — live sessions: a cell, a start, the first plot, memory, and many of them.
 * An ipykernel does the same cells and starts in turns with ours. */
#include <stdio.h>
#include <string.h>

#include "bench/die.h"
#include "bench/host.h"
#include "bench/ipykernel.h"
#include "bench/session_bench.h"

#define ADD "{\"code\": \"1+1\"}"
/* The bare interpreter also writes the picture, as a session does. */
#define PLOT                                          \
    "import pandas as pd, matplotlib.pyplot as plt\n" \
    "pd.DataFrame({'a': range(100)}).plot();"
#define PLOT_CELL                                                   \
    "{\"code\": \"import pandas as pd, matplotlib.pyplot as plt\\n" \
    "pd.DataFrame({'a': range(100)}).plot();\"}"

double bench_session_new(struct load_client *v, const char *language, struct bench_session *ret)
{
    char json[64];
    json_t *answer;
    (void)snprintf(json, sizeof json, "{\"language\": \"%s\"}", language);
    double ms = load_client_ask(v, "POST", "/v1/sessions", json, &answer);
    const char *id = json_string_value(json_object_get(answer, "id"));
    const char *state = json_string_value(json_object_get(answer, "state"));
    if (!id || !state || strcmp(state, "idle") != 0)
        bench_dief("a new session is %s", state ? state : "nothing");
    (void)snprintf(ret->path, sizeof ret->path, "/v1/sessions/%s", id);
    (void)snprintf(ret->exec_path, sizeof ret->exec_path, "%s/exec", ret->path);
    json_decref(answer);
    return ms;
}

void bench_session_end(struct load_client *v, const struct bench_session *s)
{
    json_t *answer;
    (void)load_client_ask(v, "DELETE", s->path, NULL, &answer);
    json_decref(answer);
}

double bench_session_cell(struct load_client *v, const struct bench_session *s, const char *json,
                          json_t **ret_answer)
{
    json_t *answer;
    double ms = load_client_ask(v, "POST", s->exec_path, json, &answer);
    const char *status = json_string_value(json_object_get(answer, "status"));
    if (!status || strcmp(status, "ok") != 0)
        bench_dief("a cell failed: %s", json_dumps(answer, JSON_COMPACT));
    if (ret_answer)
        *ret_answer = answer;
    else
        json_decref(answer);
    return ms;
}

struct session_race {
    struct load_client *v;
    const struct bench_service *service;
    struct ipykernel kernel;
    bool has_kernel;
};

/* The service's CPU time counts in hundredths of a second: thousands of cells would be exact. */
static void tell_cells(struct bench *b, const struct series *health, const struct series *ours,
                       const struct series *kernel, double cpu_ms)
{
    report_section(b->report, "1+1 in a live Python session");
    report_series(b->report, "belljar, HTTP", ours, ours);
    report_series(b->report, "/v1/health", health, ours);
    if (kernel->n)
        report_series(b->report, "ipykernel, jupyter_client", kernel, ours);
    double above = series_stats(ours).p50 - series_stats(health).p50;
    report_fact(b->report, "p50 of a cell above p50 of /v1/health", above, "ms");
    report_fact(b->report, "CPU time of the service for a cell and a /v1/health", cpu_ms, "ms");
    report_metric(b->report, "session_ms", above);
    if (kernel->n)
        report_metric(b->report, "ipykernel_over_session", series_ratio(kernel, ours).all);
}

static void race_cells(struct bench *b, struct session_race *r)
{
    enum { WARM_UP = 10 };
    struct series health = { 0 }, ours = { 0 }, kernel = { 0 };
    struct bench_session s = { 0 };
    double before = 0;
    (void)bench_session_new(r->v, "python", &s);
    service_settle(r->service); /* the pool replaces the embryo */
    for (size_t i = 0; i < WARM_UP + b->plan.cells; i++) {
        json_t *answer;
        if (i == WARM_UP)
            before = host_tree_cpu_ms(r->service->pid);
        double cell_ms = bench_session_cell(r->v, &s, ADD, NULL);
        double health_ms = load_client_ask(r->v, "GET", "/v1/health", NULL, &answer);
        json_decref(answer);
        double kernel_ms = r->has_kernel ? ipykernel_cell(&r->kernel) : 0;
        if (i < WARM_UP)
            continue;
        series_add(&ours, cell_ms);
        series_add(&health, health_ms);
        if (r->has_kernel)
            series_add(&kernel, kernel_ms);
    }
    double cpu_ms = (host_tree_cpu_ms(r->service->pid) - before) / (double)b->plan.cells;
    bench_session_end(r->v, &s);
    tell_cells(b, &health, &ours, &kernel, cpu_ms);
    series_done(&health);
    series_done(&ours);
    series_done(&kernel);
}

static double start_once(struct session_race *r, double *ret_create_ms)
{
    struct bench_session s = { 0 };
    service_settle(r->service);
    *ret_create_ms = bench_session_new(r->v, "python", &s);
    double cell_ms = bench_session_cell(r->v, &s, ADD, NULL);
    bench_session_end(r->v, &s);
    return *ret_create_ms + cell_ms;
}

static void race_starts(struct bench *b, struct session_race *r)
{
    struct series ours = { 0 }, create = { 0 }, kernel = { 0 };
    double ms;
    (void)start_once(r, &ms);
    for (size_t i = 0; i < b->plan.session_starts; i++) {
        series_add(&ours, start_once(r, &ms));
        series_add(&create, ms);
        if (r->has_kernel && kernel.n * b->plan.session_starts < i * b->plan.kernel_starts)
            series_add(&kernel, ipykernel_start(&r->kernel));
    }
    report_section(b->report, "a new Python session and its first cell");
    report_series(b->report, "belljar, HTTP, from the pool", &ours, &ours);
    report_series(b->report, "of that: POST /v1/sessions", &create, &ours);
    report_metric(b->report, "session_start_ms", series_stats(&ours).p50);
    if (kernel.n) {
        report_series(b->report, "ipykernel, jupyter_client", &kernel, &ours);
        report_metric(b->report, "ipykernel_start_over_session", series_ratio(&kernel, &ours).all);
    }
    series_done(&ours);
    series_done(&create);
    series_done(&kernel);
}

static double plot_once(struct session_race *r, double *ret_create_ms)
{
    struct bench_session s = { 0 };
    json_t *answer;
    service_settle(r->service);
    *ret_create_ms = bench_session_new(r->v, "python", &s);
    double ms = bench_session_cell(r->v, &s, PLOT_CELL, &answer);
    json_t *display = json_array_get(json_object_get(answer, "displays"), 0);
    if (!json_object_get(json_object_get(display, "data"), "image/png"))
        bench_dief("df.plot() displayed no picture");
    json_decref(answer);
    bench_session_end(r->v, &s);
    return ms;
}

static void race_plots(struct bench *b, struct session_race *r)
{
    char home[512], why[200], text[300];
    struct series ours = { 0 }, created = { 0 }, bare = { 0 };
    struct way_command c = { .argv = { "/usr/bin/python3", "-c",
                                       PLOT "\nplt.savefig('/dev/null', format='png', "
                                            "bbox_inches='tight')" },
                             .env = { home, "MPLBACKEND=agg" } };
    (void)snprintf(home, sizeof home, "HOME=%s", b->site.dir); /* for matplotlib's list of fonts */
    if (!command_try(&c, why, sizeof why)) {
        (void)snprintf(text, sizeof text, "df.plot(): %s", why);
        report_skip(b->report, text);
        return;
    }
    double create_ms;
    (void)plot_once(r, &create_ms);
    for (size_t i = 0; i < b->plan.plots; i++) {
        double ms = plot_once(r, &create_ms);
        series_add(&ours, ms);
        series_add(&created, create_ms + ms);
        series_add(&bare, command_once(&c));
    }
    report_section(b->report, "import pandas, matplotlib; df.plot()");
    report_series(b->report, "bare python3, with savefig()", &bare, &bare);
    report_series(b->report, "belljar, HTTP, first cell of a session", &ours, &bare);
    report_series(b->report, "the same with POST /v1/sessions", &created, &bare);
    report_metric(b->report, "session_plot_over_bare", series_ratio(&ours, &bare).all);
    series_done(&ours);
    series_done(&created);
    series_done(&bare);
}

void part_sessions(struct bench *b)
{
    char why[200], text[300];
    struct session_race r = { .service = bench_service(b, SERVICE_WARM) };
    if (b->absent[WORK_PYTHON])
        return;
    r.v = load_client_new(r.service->port);
    r.has_kernel = ipykernel_open(&r.kernel, b->site.dir, why, sizeof why);
    if (!r.has_kernel) {
        (void)snprintf(text, sizeof text, "ipykernel: %s", why);
        report_skip(b->report, text);
    }
    race_cells(b, &r);
    race_starts(b, &r);
    if (r.has_kernel)
        ipykernel_close(&r.kernel);
    race_plots(b, &r);
    session_memory(b, r.v, r.service);
    load_client_free(r.v);
    session_crowd(b);
}
