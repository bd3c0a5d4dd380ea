#include "run/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "run/json.h"

static const double MS_MAX = 1e9; /* longer than any run */

/* ---- from the guest ---- */

/* A number from 0 to max, or -1. */
static double number(const json_t *object, const char *key, double max)
{
    const json_t *v = json_object_get(object, key);
    double x = json_number_value(v);
    return json_is_number(v) && isfinite(x) && x >= 0 && x <= max ? x : -1;
}

/* A text without control characters, cut at the end of a character. NULL if it is not a text. */
static json_t *text(const json_t *object, const char *key, size_t max)
{
    const json_t *v = json_object_get(object, key);
    const char *from = json_string_value(v);
    size_t n = json_string_length(v);
    if (!from)
        return NULL;
    if (n > max)
        for (n = max; n > 0 && ((unsigned char)from[n] & 0xc0) == 0x80; n--)
            ;
    char *clean = malloc(n + 1);
    if (!clean)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        bool c1 = i > 0 && (unsigned char)from[i - 1] == 0xc2 && (unsigned char)from[i] < 0xa0;
        clean[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? ' ' : from[i];
        if (c1) /* U+0080 to U+009F are control characters of terminals, too */
            clean[i - 1] = clean[i] = ' ';
    }
    json_t *out = json_stringn(clean, n);
    free(clean);
    return out;
}

/* Whether the file belongs to the program. Names of other files begin with '/', '<', '(' or
 * "node:". */
static bool is_own(const json_t *row)
{
    const char *file = json_string_value(json_object_get(row, "file"));
    return file && file[0] && !strchr("/<(", file[0]) && strncmp(file, "node:", 5) != 0;
}

static int by_heat(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    double p = json_number_value(json_object_get(x, "self_ms"));
    double q = json_number_value(json_object_get(y, "self_ms"));
    double r = json_number_value(json_object_get(x, "total_ms"));
    double s = json_number_value(json_object_get(y, "total_ms"));
    if (is_own(x) != is_own(y))
        return is_own(x) ? -1 : 1;
    return p != q ? (p < q) - (p > q) : (r < s) - (r > s);
}

/* To a thousandth, which is the precision of the profilers. */
static json_t *rounded(double x)
{
    return json_real(round(x * 1000) / 1000);
}

/* A row of functions or lines. NULL if it is malformed. */
static json_t *take_row(const json_t *from, double sampled_ms, bool of_function)
{
    double line = number(from, "line", 1e7), self = number(from, "self_ms", MS_MAX);
    double total = of_function ? number(from, "total_ms", MS_MAX) : 0;
    json_t *file = text(from, "file", PROFILE_TEXT_MAX);
    json_t *name = text(from, of_function ? "function" : "text", PROFILE_TEXT_MAX);
    if (line < 0 || self < 0 || total < 0 || !file || (of_function && !name)) {
        json_decref(file);
        json_decref(name);
        return NULL;
    }
    double percent = sampled_ms > 0 ? self / sampled_ms * 100 : 0;
    json_t *row = json_object();
    json_put(row, "file", file);
    json_put(row, "line", json_integer((json_int_t)line));
    json_put(row, "self_ms", rounded(self));
    json_put(row, "percent", json_real(round((percent > 100 ? 100 : percent) * 10) / 10));
    json_put(row, of_function ? "function" : "text", name ? name : json_string(""));
    if (of_function)
        json_put(row, "total_ms", rounded(total));
    return row;
}

static json_t *take_rows(const json_t *reported, const char *key, double sampled_ms)
{
    const json_t *list = json_object_get(reported, key);
    json_t *rows[2 * PROFILE_ROWS_MAX];
    size_t n = 0, i;
    json_t *item, *out = json_array();
    json_array_foreach((json_t *)list, i, item) {
        if (n == ARRAY_LEN(rows))
            break;
        rows[n] = take_row(item, sampled_ms, strcmp(key, "functions") == 0);
        n += rows[n] != NULL;
    }
    qsort((void *)rows, n, sizeof(json_t *), by_heat);
    for (i = 0; i < n; i++)
        if (i < PROFILE_ROWS_MAX)
            (void)json_array_append_new(out, rows[i]);
        else
            json_decref(rows[i]);
    return out;
}

/* "outermost;…;innermost", each "function file:line". */
static json_t *take_stacks(const json_t *reported)
{
    const json_t *list = json_object_get(reported, "stacks");
    size_t i;
    json_t *item, *out = json_array();
    json_array_foreach((json_t *)list, i, item) {
        double ms = number(item, "ms", MS_MAX);
        json_t *stack = ms < 0 ? NULL : text(item, "stack", PROFILE_STACK_MAX);
        if (stack && json_array_size(out) < PROFILE_STACKS_MAX)
            (void)json_array_append_new(out,
                                        json_pack("{s:o, s:o}", "stack", stack, "ms", rounded(ms)));
        else
            json_decref(stack);
    }
    return out;
}

/* ---- from the kernel ---- */

static json_t *timeline(const struct samples *s)
{
    json_t *out = json_array();
    for (uint32_t i = 0; s && i < s->n; i++) {
        const struct sample *x = &s->at[i], *before = i > 0 ? &s->at[i - 1] : NULL;
        uint64_t passed = before ? x->at_us - before->at_us : 0;
        double percent = passed ? (double)(x->cpu_us - before->cpu_us) * 100 / (double)passed : 0;
        (void)json_array_append_new(
            out, json_pack("{s:o, s:o, s:I, s:I}", "ms", rounded((double)x->at_us / 1000),
                           "cpu_percent", json_real(round(percent * 10) / 10), "memory_bytes",
                           (json_int_t)(x->memory_bytes > INT64_MAX ? INT64_MAX : x->memory_bytes),
                           "pids", (json_int_t)x->pids));
    }
    return out;
}

/* A profiler sees the threads of one interpreter. The kernel counts the CPU time of all processes,
 * with the start of the language and the own threads of the interpreter. Only a larger gap gets a
 * note. "ran_ms", if the profiler has it, is the sampled time without waiting. */
static json_t *note_on(const json_t *reported, const struct samples *s,
                       const struct isolation *isolation)
{
    static const double GAP_LEAST_MS = 500;
    double ran_ms = number(reported, "ran_ms", MS_MAX);
    double seen_ms = ran_ms >= 0 ? ran_ms : number(reported, "sampled_ms", MS_MAX);
    double cpu_ms = s && s->n > 0 ? (double)s->at[s->n - 1].cpu_us / 1000 : 0;
    if (isolation->cgroup_version == 0)
        return json_string("without cgroups memory and processes cannot be sampled, and CPU "
                           "time is that of the first process");
    if (!reported || cpu_ms - seen_ms < GAP_LEAST_MS || seen_ms * 2 > cpu_ms)
        return json_null();
    return json_sprintf(
        "functions and lines cover %.1f s of the %.1f s of CPU time: other processes, "
        "worker threads and the start of the language are not included",
        seen_ms / 1000, cpu_ms / 1000);
}

/* The fields of a report, checked and written anew; empty if it is malformed. */
static json_t *take_report(const json_t *reported, bool *ret_known)
{
    double sampled = number(reported, "sampled_ms", MS_MAX);
    double count = number(reported, "samples", 1e12);
    json_t *out = json_object();
    bool known = json_is_object(reported) && sampled >= 0 && count >= 0;
    const json_t *source = known ? reported : NULL;
    json_put(out, "sampled_ms", rounded(known ? sampled : 0));
    json_put(out, "samples", json_integer(known ? (json_int_t)count : 0));
    json_put(out, "functions", take_rows(source, "functions", sampled));
    json_put(out, "lines", take_rows(source, "lines", sampled));
    json_put(out, "stacks", take_stacks(source));
    *ret_known = known;
    return out;
}

json_t *profile_reduce(const json_t *reported)
{
    bool known = false;
    double ran_ms = number(reported, "ran_ms", MS_MAX);
    json_t *out = take_report(reported, &known);
    if (ran_ms >= 0)
        json_put(out, "ran_ms", json_real(ran_ms));
    if (known)
        return out;
    json_decref(out);
    return NULL;
}

json_t *profile_make(const json_t *reported, const struct samples *samples,
                     const struct isolation *isolation)
{
    bool known = false;
    json_t *out = take_report(reported, &known);
    const json_t *source = known ? reported : NULL;
    json_put(out, "timeline", timeline(samples));
    json_put(out, "note", note_on(source, samples, isolation));
    return out;
}

json_t *profile_take(json_t *reported, bool wanted, const struct samples *samples,
                     const struct isolation *isolation)
{
    json_t *out = wanted && samples ? profile_make(reported, samples, isolation) : NULL;
    json_decref(reported);
    return out;
}

int profile_hot_line(const json_t *profile, char *file, size_t size)
{
    const json_t *hottest = json_array_get(json_object_get(profile, "lines"), 0);
    if (!is_own(hottest) || json_number_value(json_object_get(hottest, "percent")) < 20)
        return -1;
    (void)snprintf(file, size, "%s", json_string_value(json_object_get(hottest, "file")));
    return (int)json_integer_value(json_object_get(hottest, "line"));
}
