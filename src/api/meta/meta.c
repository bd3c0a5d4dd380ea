/* Routes about the service itself: health, languages, statistics, metrics, the OpenAPI document. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/core.h"
#include "api/kernel/job.h"
#include "api/kernel/storage.h"
#include "api/meta/meta.h"
#include "api/meta/metrics.h"
#include "api/runs/result_fields.h"
#include "base/clock.h"
#include "base/text.h"
#include "config.h"
#include "run/json.h"
#include "run/result.h"
#include "runtime/language.h"
#include "session/images.h"
#include "session/session.h"

/* ---- health ---- */
/* Probes ask often. The text is made at most once in this time. */
enum { HEALTH_AGE_MS = 100 };

/* Runs go on, but some limits may have been held late. */
static const char *was_stopped(const struct api *api)
{
    enum { TELL_MS = 60 * 1000 };
    return api->stopped_ms && uv_now(api->loop) - api->stopped_ms < TELL_MS
               ? "the warden or the keeper was stopped by a signal within the last minute, and "
                 "resumed: limits may have been held late"
               : NULL;
}

/* Everything but these images works. */
static const char *lacks_keys(const struct api *api, char out[ERR_TEXT_MAX])
{
    if (sessions_search_failed(api->sessions))
        return "the list of sleeping sessions and images could not be read: the log says why, and "
               "each request that needs the list reads it again";
    size_t n = images_without_key(sessions_images(api->sessions));
    if (n == 0)
        return NULL;
    (void)snprintf(out, ERR_TEXT_MAX,
                   "%zu images are encrypted with keys that images.key_file does not have: their "
                   "sessions and templates cannot begin until it has them; nothing is deleted",
                   n);
    return out;
}

static void health_make(struct api *api)
{
    const struct isolation *isolation = engine_isolation(api->engine);
    struct err trouble = store_trouble(api->store), full = { 0 };
    const char *why = api->draining               ? "the service is stopping"
                      : !isolation                ? "there is no warden; it is being restarted"
                      : storage_check(api, &full) ? full.text
                      : trouble.code != ERR_NONE  ? ERR_SHOWN(&trouble)
                      : storage_check_open_files(&full) ? full.text
                                                        : NULL;
    int status = why ? 503 : 200;
    why = why ? why : was_stopped(api);
    char keys[ERR_TEXT_MAX];
    why = why ? why : lacks_keys(api, keys);
    json_auto_t *body = json_pack(
        "{s:s, s:s, s:o, s:I, s:s*}", "status", why ? "degraded" : "ok", "version", BELLJAR_VERSION,
        "isolation", isolation ? result_isolation(isolation) : json_null(), "uptime_s",
        (json_int_t)((clock_unix_ms() - api->started_ms) / 1000), "why", why);
    size_t n = body ? json_dumpb(body, api->core->health.body, sizeof api->core->health.body - 1,
                                 JSON_COMPACT)
                    : 0;
    if (n == 0 || n >= sizeof api->core->health.body)
        return; /* the previous text stays */
    api->core->health.body[n] = '\n';
    api->core->health.len = n + 1;
    api->core->health.status = status;
    api->core->health.made_ms = uv_now(api->loop);
    api->core->health.made = true;
}

static void get_health(struct api_call *c)
{
    struct api_core *core = c->api->core;
    if (!core->health.made || uv_now(c->api->loop) - core->health.made_ms >= HEALTH_AGE_MS)
        health_make(c->api);
    if (core->health.status == 503 && c->http)
        http_answer_header(c->http, "Retry-After", "1");
    api_reply_text(c, core->health.made ? core->health.status : 503, "application/json",
                   core->health.body, core->health.len);
}

/* ---- languages ---- */
static json_t *words(const char *const *list)
{
    json_t *array = json_array();
    for (; *list; list++)
        (void)json_array_append_new(array, json_string(*list));
    return array;
}

static json_t *warm_kinds(const struct language *l)
{
    json_t *array = json_array();
    for (const struct warm *w = l->warm; w && w->zygote.name; w++)
        (void)json_array_append_new(array, json_string(w->zygote.name));
    return array;
}

static void get_languages(struct api_call *c)
{
    json_t *list = json_array();
    for (const struct language *const *l = languages; *l; l++) {
        const char *version = engine_version(c->api->engine, *l);
        (void)json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:s?, s:b, s:s, s:s, s:b, s:o}", "name", (*l)->name,
                            "aliases", words((*l)->aliases), "extensions", words((*l)->extensions),
                            "version", version, "installed", engine_may_run(c->api->engine, *l),
                            "install", (*l)->install, "main_file", (*l)->main_file, "compiled",
                            (*l)->compile != NULL, "warm", warm_kinds(*l)));
    }
    api_reply(c, 200, list);
}

/* ---- pools ---- */
static json_t *starts_json(const uint64_t starts[START_COUNT_])
{
    json_t *o = json_object();
    for (int s = START_COUNT_ - 1; s >= 0; s--) /* the quickest first */
        json_put(o, start_word((enum start)s), json_integer((json_int_t)starts[s]));
    return o;
}

static json_t *all_starts_json(const struct engine_pools *p)
{
    uint64_t all[START_COUNT_] = { 0 };
    for (size_t kind = 0; kind <= p->n; kind++)
        for (int s = 0; s < START_COUNT_; s++)
            all[s] += p->starts[kind][s];
    return starts_json(all);
}

json_t *meta_pools(const struct engine_pools *p)
{
    json_t *o = json_object();
    for (size_t i = 0; i < p->n; i++) {
        const struct pool_state *s = &p->kinds[i].state;
        char why[sizeof s->why];
        json_put(o, p->kinds[i].name,
                 json_pack("{s:s, s:s?, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I}", "zygote",
                           zygote_state_word(s->zygote), "why",
                           s->why[0] ? text_hide_paths(s->why, why, sizeof why) : NULL, "ready",
                           (json_int_t)s->ready, "building", (json_int_t)s->building, "target",
                           (json_int_t)p->kinds[i].target, "starts", starts_json(p->starts[i + 1]),
                           "forks", (json_int_t)s->forks, "zygotes", (json_int_t)s->zygotes,
                           "deaths", (json_int_t)s->deaths, "discarded", (json_int_t)s->discarded));
    }
    return o;
}

/* ---- statistics ---- */
struct stats_job {
    struct api_job job;
    int64_t since_ms;
    struct run_stat *rows;
    size_t n;
};

static int stats_work(struct db *db, struct store_job *job, struct err *e)
{
    struct stats_job *s = (struct stats_job *)job;
    return runs_stats(db, s->since_ms, &s->rows, &s->n, e);
}

static json_t *stat_json(const struct run_stat *r)
{
    double n = r->n > 0 ? (double)r->n : 1;
    return json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:I}", "language", r->language, "verdict",
                     r->verdict, "runs", (json_int_t)r->n, "wall_ms_mean",
                     (double)r->wall_us_sum / 1000 / n, "wall_ms_max",
                     (double)r->wall_us_max / 1000, "cpu_ms_mean", (double)r->cpu_us_sum / 1000 / n,
                     "memory_peak_max_bytes", (json_int_t)r->memory_peak_max);
}

static void add_count(json_t *object, const char *key, int64_t n)
{
    json_int_t before = json_integer_value(json_object_get(object, key));
    (void)json_object_set_new(object, key, json_integer(before + n));
}

static json_t *stats_json(const struct stats_job *s)
{
    const struct api *api = s->job.call->api;
    struct engine_counts now = engine_counts(api->engine);
    struct http_counts http = http_server_counts(api->http);
    struct engine_pools pools = engine_pools(api->engine);
    json_t *verdicts = json_object(), *by_language = json_object(), *rows = json_array();
    int64_t total = 0;
    for (size_t i = 0; i < s->n; i++) {
        total += s->rows[i].n;
        add_count(verdicts, s->rows[i].verdict, s->rows[i].n);
        add_count(by_language, s->rows[i].language, s->rows[i].n);
        (void)json_array_append_new(rows, stat_json(&s->rows[i]));
    }
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:{s:i, s:i, s:i}, s:{s:I, s:I}, s:{s:i, s:I, "
                     "s:I}, s:I, s:o, s:o, "
                     "s:b}",
                     "since", result_time((uint64_t)s->since_ms), "runs", (json_int_t)total,
                     "verdicts", verdicts, "languages", by_language, "rows", rows, "now", "running",
                     (int)now.running, "queued", (int)now.queued, "waiting", (int)now.undecided,
                     "since_start", "accepted", (json_int_t)now.accepted, "refused",
                     (json_int_t)now.refused, "http", "connections", (int)http.connections,
                     "requests", (json_int_t)http.requests, "refused", (json_int_t)http.refused,
                     "uptime_s", (json_int_t)((clock_unix_ms() - api->started_ms) / 1000), "starts",
                     all_starts_json(&pools), "pools", meta_pools(&pools), "memory_pressure",
                     (int)pools.short_of_memory);
}

static void stats_done(struct store_job *job)
{
    struct stats_job *s = (struct stats_job *)job;
    if (job->err.code != ERR_NONE)
        api_fail(s->job.call, &job->err, NULL);
    else
        api_reply(s->job.call, 200, stats_json(s));
    free(s->rows);
    free(s);
}

static void get_stats(struct api_call *c)
{
    char text[64];
    const char *since;
    struct err e = { 0 };
    struct stats_job *s = api_job_new(c, sizeof *s, stats_work, stats_done);
    if (!s)
        return;
    if (api_query(c, "since", text, sizeof text, &since, &e) ||
        (since && api_moment("since", since, clock_unix_ms(), &s->since_ms, &e))) {
        free(s);
        api_fail(c, &e, "since");
        return;
    }
    engine_pools_refresh(c->api->engine); /* the warden answers before the history does */
    api_job_read(&s->job);
}

/* ---- documents ---- */
static void get_openapi(struct api_call *c)
{
    const struct buf *b = &c->api->core->openapi;
    api_reply_text(c, 200, "application/json", buf_str(b), b->len);
}

static void get_metrics(struct api_call *c)
{
    struct buf text = { 0 };
    struct err e = { 0 };
    engine_pools_refresh(c->api->engine);
    if (metrics_write(c->api, &text, &e))
        api_fail(c, &e, NULL);
    else
        api_reply_text(c, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&text),
                       text.len);
    buf_done(&text);
}

/* ---- fields ---- */
static const struct api_field stats_query[] = {
    { "since", FIELD_STRING, .max = 63,
      .help = "runs from this time on: 2026-01-31T12:00:00Z, Unix milliseconds, or 24h (ago)" },
    { 0 },
};

static const struct api_field language_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "value for `language`" },
    { "aliases", FIELD_STRINGS, ALWAYS, .help = "other accepted names" },
    { "extensions", FIELD_STRINGS, ALWAYS, .help = "file extensions that imply the language" },
    { "version", FIELD_STRING, OR_NULL,
      .help = "null if it is not installed, or has not answered yet" },
    { "installed", FIELD_BOOL, ALWAYS, .help = "true if it can be run here" },
    { "install", FIELD_STRING, ALWAYS, .help = "the command that installs it" },
    { "main_file", FIELD_STRING, ALWAYS,
      .help = "the name of `code` in /sandbox; for Java the name of its public class, if it has "
              "one" },
    { "compiled", FIELD_BOOL, ALWAYS, .help = "true if a compiler runs first" },
    { "warm", FIELD_STRINGS, ALWAYS, .help = "kinds of booted interpreters that wait for a job" },
    { .schema = "Language" },
};
static const struct api_field health_reply[] = {
    { "status", FIELD_STRING, ALWAYS, .help = "ok or degraded" },
    { "version", FIELD_STRING, ALWAYS, .help = "version of the service" },
    { "isolation", FIELD_OBJECT, OR_NULL, .fields = isolation_reply, .help = "isolation of runs" },
    { "uptime_s", FIELD_INT, ALWAYS, .help = "seconds since the start of the service" },
    { "why", FIELD_STRING, .help = "the reason for degraded" },
    { .schema = "Health" },
};
static const struct api_field stat_row_reply[] = {
    { "language", FIELD_STRING, ALWAYS, .help = "language of these runs" },
    { "verdict", FIELD_STRING, ALWAYS, .help = "verdict of these runs" },
    { "runs", FIELD_INT, ALWAYS, .help = "number of runs" },
    { "wall_ms_mean", FIELD_NUMBER, ALWAYS, .help = "mean time from start to end" },
    { "wall_ms_max", FIELD_NUMBER, ALWAYS, .help = "longest time from start to end" },
    { "cpu_ms_mean", FIELD_NUMBER, ALWAYS, .help = "mean CPU time" },
    { "memory_peak_max_bytes", FIELD_INT, ALWAYS, .help = "the largest memory use of a run" },
    { 0 },
};
static const struct api_field now_reply[] = {
    { "running", FIELD_INT, ALWAYS, .help = "current runs" },
    { "queued", FIELD_INT, ALWAYS, .help = "runs in the queue" },
    { "waiting", FIELD_INT, ALWAYS, .help = "runs that wait for an approval" },
    { 0 },
};
static const struct api_field since_start_reply[] = {
    { "accepted", FIELD_INT, ALWAYS, .help = "accepted runs" },
    { "refused", FIELD_INT, ALWAYS, .help = "runs that were refused because the queue was full" },
    { 0 },
};
static const struct api_field http_reply[] = {
    { "connections", FIELD_INT, ALWAYS, .help = "open connections" },
    { "requests", FIELD_INT, ALWAYS, .help = "requests since the start" },
    { "refused", FIELD_INT, ALWAYS, .help = "connections that were refused since the start" },
    { 0 },
};
static const struct api_field starts_reply[] = {
    { "warm", FIELD_INT, ALWAYS, .help = "starts in a jar that waited" },
    { "hatched", FIELD_INT, ALWAYS, .help = "starts by a fork into a new jar" },
    { "cold", FIELD_INT, ALWAYS, .help = "starts of a new interpreter" },
    { 0 },
};
const struct api_field pool_reply[] = {
    { "zygote", FIELD_STRING, ALWAYS, .one_of = zygote_state_words,
      .help = "state of the interpreter that is forked" },
    { "why", FIELD_STRING, OR_NULL, .help = "the reason for failed" },
    { "ready", FIELD_INT, ALWAYS, .help = "embryos that wait for a job" },
    { "building", FIELD_INT, ALWAYS, .help = "embryos that are not ready yet" },
    { "target", FIELD_INT, ALWAYS, .help = "the wanted number of waiting embryos" },
    { "starts", FIELD_OBJECT, ALWAYS, .fields = starts_reply, .help = "starts of this kind" },
    { "forks", FIELD_INT, ALWAYS, .help = "forks of all zygotes of this kind" },
    { "zygotes", FIELD_INT, ALWAYS, .help = "zygotes that were booted" },
    { "deaths", FIELD_INT, ALWAYS, .help = "zygotes that ended by themselves" },
    { "discarded", FIELD_INT, ALWAYS, .help = "embryos that were never used" },
    { .schema = "Pool", .help = "Interpreters of one kind that wait for a job" },
};
static const struct api_field stats_reply[] = {
    { "since", FIELD_STRING, OR_NULL, .help = "null: the whole history" },
    { "runs", FIELD_INT, ALWAYS, .help = "number of runs" },
    { "verdicts", FIELD_ANY, ALWAYS, .help = "number of runs by verdict" },
    { "languages", FIELD_ANY, ALWAYS, .help = "number of runs by language" },
    { "rows", FIELD_OBJECTS, ALWAYS, .fields = stat_row_reply, .help = "by language and verdict" },
    { "now", FIELD_OBJECT, ALWAYS, .fields = now_reply, .help = "runs at this moment" },
    { "since_start", FIELD_OBJECT, ALWAYS, .fields = since_start_reply,
      .help = "counts since the start of the service" },
    { "http", FIELD_OBJECT, ALWAYS, .fields = http_reply, .help = "counts of the HTTP server" },
    { "uptime_s", FIELD_INT, ALWAYS, .help = "seconds since the start of the service" },
    { "starts", FIELD_OBJECT, ALWAYS, .fields = starts_reply, .help = "starts of all kinds" },
    { "pools", FIELD_ANY, ALWAYS, .fields = pool_reply, .help = "a Pool for each kind, by name" },
    { "memory_pressure", FIELD_BOOL, ALWAYS,
      .help = "true if memory is short, so that no embryo is kept" },
    { .schema = "Stats" },
};

const struct api_route meta_routes[] = {
    { METHOD_GET, "/v1/health", SCOPE_NONE, .flags = ROUTE_EARLY, .handle = get_health,
      .summary = "Whether the service can run programs, and at which isolation; 503 if not",
      .replies = REPLIES(
          { 200, .fields = health_reply },
          { 503, .fields = health_reply, .help = "no run can start at this moment" }) },
    { METHOD_GET, "/v1/languages", SCOPE_ANY, .flags = ROUTE_EARLY, .handle = get_languages,
      .summary = "The languages, with installed versions",
      .replies = REPLIES({ 200, .fields = language_reply, .list = true }) },
    { METHOD_GET, "/v1/stats", SCOPE_READ, .query = stats_query, .handle = get_stats,
      .summary = "Runs by language and verdict, and current counts",
      .replies = REPLIES({ 200, .fields = stats_reply }) },
    { METHOD_GET, "/metrics", SCOPE_READ, .handle = get_metrics,
      .summary = "Metrics in the format of Prometheus",
      .replies = REPLIES({ 200, .content_type = "text/plain" }) },
    { METHOD_GET, "/openapi.json", SCOPE_NONE, .flags = ROUTE_EARLY, .handle = get_openapi,
      .summary = "This document", .replies = REPLIES({ 200, .content_type = "application/json" }) },
    { 0 },
};
