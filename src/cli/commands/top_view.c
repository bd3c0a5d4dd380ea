#include "cli/commands/top_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/moment.h"
#include "cli/commands/plain.h"
#include "cli/repl/editor.h"
#include "config.h"
#include "run/json.h"

static long long count(const json_t *o, const char *key)
{
    return (long long)json_integer_value(json_object_get(o, key));
}

static int add_duration(struct buf *b, int64_t seconds, struct err *e)
{
    static const struct {
        int64_t seconds;
        const char *unit;
    } units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
    size_t i = 0;
    while (i < 3 && seconds < units[i].seconds)
        i++;
    if (buf_addf(b, e, "%" PRId64 " %s", seconds / units[i].seconds, units[i].unit))
        return -1;
    int64_t rest = i < 3 ? seconds % units[i].seconds / units[i + 1].seconds : 0;
    return rest > 0 ? buf_addf(b, e, " %" PRId64 " %s", rest, units[i + 1].unit) : 0;
}

static size_t asleep(const json_t *sessions)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(sessions); i++) {
        const char *state = json_find_text(json_array_get(sessions, i), "state");
        n += state && strcmp(state, "asleep") == 0;
    }
    return n;
}

static int add_head(struct buf *b, const struct top_state *t, const json_t *sessions, struct err *e)
{
    const json_t *now = json_object_get(t->stats, "now"),
                 *starts = json_object_get(t->stats, "starts");
    const json_t *http = json_object_get(t->stats, "http");
    if (buf_addf(b, e, "belljar %s, up ", BELLJAR_VERSION) ||
        add_duration(b, count(t->stats, "uptime_s"), e))
        return -1;
    if (t->runs_per_second >= 0 && buf_addf(b, e, ", %.1f runs/s", t->runs_per_second))
        return -1;
    if (buf_addf(b, e, "%s\n",
                 json_is_true(json_object_get(t->stats, "memory_pressure")) ? ", MEMORY IS SHORT"
                                                                            : ""))
        return -1;
    if (buf_addf(b, e,
                 "runs: %lld running, %lld queued, %lld waiting for an approval, %lld refused\n",
                 count(now, "running"), count(now, "queued"), count(now, "waiting"),
                 count(json_object_get(t->stats, "since_start"), "refused")))
        return -1;
    return buf_addf(
        b, e,
        "starts: %lld warm, %lld hatched, %lld cold; sessions: %zu, %zu of them asleep; "
        "connections: %lld\n",
        count(starts, "warm"), count(starts, "hatched"), count(starts, "cold"),
        json_array_size(sessions), asleep(sessions), count(http, "connections"));
}

static int add_age(struct buf *b, const json_t *run, const char *since, struct err *e)
{
    int64_t then_ms = 0, now_ms = clock_unix_ms();
    const char *moment = json_find_text(run, since);
    if (!moment || moment_parse(moment, now_ms, &then_ms) || then_ms > now_ms)
        return buf_addf(b, e, "-");
    return add_duration(b, (now_ms - then_ms) / 1000, e);
}

/* `since`: the member that the age counts from. `last`: the member in the fourth column. */
static int add_run(struct buf *b, const json_t *run, const char *last, const char *since,
                   struct err *e)
{
    scoped(buf) age = { 0 };
    return add_age(&age, run, since, e) || plain_add_column(b, json_find_text(run, "id"), 33, e) ||
                   plain_add_column(b, json_find_text(run, "language"), 12, e) ||
                   plain_add_column(b, json_find_text(run, last), 16, e) ||
                   plain_add_column(b, buf_str(&age), 12, e) ||
                   plain_add_column(b, json_find_text(run, "key"), 14, e) ||
                   plain_add_column(b, json_find_text(run, "thread_id"), 0, e) ||
                   buf_addf(b, e, "\n")
               ? -1
               : 0;
}

static int add_runs(struct buf *b, const char *title, const json_t *answer, const char *last,
                    const char *since, struct err *e)
{
    const json_t *runs = json_object_get(answer, "runs");
    if (json_array_size(runs) == 0)
        return 0;
    if (buf_addf(b, e, "\n%-33s%-12s%-16s%-12s%-14s%s\n", title, "LANGUAGE",
                 strcmp(last, "verdict") == 0 ? "VERDICT" : "STATE", "SINCE", "KEY", "THREAD"))
        return -1;
    for (size_t i = 0; i < json_array_size(runs); i++)
        if (add_run(b, json_array_get(runs, i), last, since, e))
            return -1;
    return 0;
}

/* It is not known before the first look of the service. */
static int add_memory(struct buf *b, const json_t *session, struct err *e)
{
    return json_is_integer(json_object_get(session, "memory_bytes"))
               ? buf_addf(b, e, "%4lld MiB      ", count(session, "memory_bytes") >> 20)
               : buf_addf(b, e, "%-14s", "-");
}

static int add_sessions(struct buf *b, const json_t *sessions, struct err *e)
{
    if (json_array_size(sessions) == 0)
        return 0;
    if (buf_addf(b, e, "\n%-33s%-12s%-16s%-12s%-14s%s\n", "SESSIONS", "LANGUAGE", "STATE", "CELLS",
                 "MEMORY", "NAME"))
        return -1;
    for (size_t i = 0; i < json_array_size(sessions); i++) {
        const json_t *s = json_array_get(sessions, i);
        if (plain_add_column(b, json_find_text(s, "id"), 33, e) ||
            plain_add_column(b, json_find_text(s, "language"), 12, e) ||
            plain_add_column(b, json_find_text(s, "state"), 16, e) ||
            buf_addf(b, e, "%-12lld", count(s, "cells")) || add_memory(b, s, e) ||
            plain_add_column(b, json_find_text(s, "name"), 0, e) || buf_addf(b, e, "\n"))
            return -1;
    }
    return 0;
}

static int add_pools(struct buf *b, const struct top_state *t, struct err *e)
{
    const char *kind;
    json_t *pool;
    if (buf_addf(b, e, "\n%-20s%-10s%-10s%s\n", "WARM STARTS", "READY", "STATE", "STARTS"))
        return -1;
    json_object_foreach(json_object_get(t->stats, "pools"), kind, pool) {
        const json_t *starts = json_object_get(pool, "starts");
        const char *why = json_find_text(pool, "why");
        if (count(pool, "target") == 0 && !why)
            continue;
        if (plain_add_column(b, kind, 20, e) ||
            buf_addf(b, e, "%lld of %-5lld", count(pool, "ready"), count(pool, "target")) ||
            plain_add_column(b, json_find_text(pool, "zygote"), 10, e) ||
            buf_addf(b, e, "%lld warm, %lld cold", count(starts, "warm"), count(starts, "cold")) ||
            (why && (buf_addf(b, e, ": ") || plain_add(b, why, strlen(why), e))) ||
            buf_addf(b, e, "\n"))
            return -1;
    }
    return 0;
}

int top_add(struct buf *b, const struct top_state *t, struct err *e)
{
    const json_t *sessions = json_object_get(t->sessions, "sessions");
    return add_head(b, t, sessions, e) ||
                   add_runs(b, "RUNNING", t->running, "state", "started_at", e) ||
                   add_runs(b, "FINISHED", t->recent, "verdict", "finished_at", e) ||
                   add_sessions(b, sessions, e) || add_pools(b, t, e)
               ? -1
               : 0;
}

/* The bytes of a line that fit. */
static size_t fitting(const char *line, size_t n, size_t columns)
{
    size_t fits = n;
    while (columns > 0 && fits > 0 && text_columns(line, fits) > columns)
        do
            fits--;
        while (fits > 0 && (line[fits] & 0xC0) == 0x80);
    return fits;
}

int top_clip(struct buf *b, const char *text, size_t rows, size_t columns, const char *end,
             struct err *e)
{
    for (size_t row = 0; *text && (rows == 0 || row < rows); row++) {
        size_t n = strcspn(text, "\n");
        if (buf_add(b, text, fitting(text, n, columns), e) || buf_addf(b, e, "%s", end))
            return -1;
        text += n + (text[n] == '\n');
    }
    return 0;
}
