#include "cli/report.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/text.h"
#include "cli/json.h"
#include "runtime/version.h"
#include "spec/bundle.h"

/* The limit a verdict speaks of, what happened, and the option that moves it. */
static const struct {
    enum verdict verdict;
    enum limit_id limit;
    const char *what;
} notes[] = {
    { VERDICT_TIMEOUT, LIMIT_WALL_MS, "it took longer than its" },
    { VERDICT_CPU_TIMEOUT, LIMIT_CPU_MS, "it used up its CPU time of" },
    { VERDICT_MEMORY_LIMIT, LIMIT_MEMORY, "it needed more memory than its" },
    { VERDICT_OUTPUT_LIMIT, LIMIT_OUTPUT, "it printed more than its" },
    { VERDICT_PROCESS_LIMIT, LIMIT_PIDS, "it failed after a process was refused beyond its" },
    { VERDICT_DISK_LIMIT, LIMIT_DISK, "it failed with its disk full at" },
};

void report_note(const struct report *r)
{
    char shown[32];
    const struct evidence *ev = &r->run->end.evidence;
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        enum limit_id id = notes[i].limit;
        if (notes[i].verdict != r->verdict)
            continue;
        if (id == LIMIT_DISK && !(ev->hits & LIMIT_BIT(LIMIT_DISK)))
            id = LIMIT_FILES;
        const struct limit_def *d = &limit_defs[id];
        (void)fprintf(stderr, "belljar: %s: %s %s%s; --%s %s gives it more\n",
                      verdict_word(r->verdict), notes[i].what,
                      unit_format(d->unit, r->run->limits.v[id], shown, sizeof shown),
                      id == LIMIT_PIDS    ? " processes"
                      : id == LIMIT_FILES ? " files"
                                          : "",
                      d->option, d->metavar);
        return;
    }
    const struct err *why = &r->run->end.err;
    if (r->verdict == VERDICT_INTERNAL_ERROR && why->code == ERR_NOT_FOUND)
        (void)fprintf(stderr, "belljar: %s: '%s' installs it\n", why->text,
                      r->job->inputs->language->install);
    else if (r->verdict == VERDICT_INTERNAL_ERROR)
        (void)fprintf(stderr, "belljar: %s\n", why->text);
    else if (r->verdict == VERDICT_CANCELLED && !r->run->unheard)
        (void)fprintf(stderr, "belljar: cancelled\n");
}

/* Takes the reference; only lack of memory can make a value NULL, and then the field is left out. */
static void put(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

/* Exact text where it is UTF-8; otherwise readable text, and the exact bytes beside it. */
static void put_stream(json_t *o, const char *key, const struct buf *b)
{
    struct err e;
    if (text_is_utf8(buf_str(b), b->len)) {
        put(o, key, json_stringn_nocheck(buf_str(b), b->len));
        return;
    }
    auto(buf) readable = { 0 }, exact = { 0 };
    char base64_key[40];
    (void)snprintf(base64_key, sizeof base64_key, "%s_base64", key);
    if (text_add_utf8(&readable, b->data, b->len, &e) ||
        text_add_base64(&exact, b->data, b->len, &e))
        return;
    put(o, key, json_stringn_nocheck(readable.data, readable.len));
    put(o, base64_key, json_stringn_nocheck(exact.data, exact.len));
}

static json_t *limits_object(const struct limits *limits)
{
    json_t *o = json_object();
    for (int i = 0; i < LIMIT_COUNT; i++)
        put(o, limit_defs[i].key, json_integer((json_int_t)limits->v[i]));
    return o;
}

static json_t *isolation_object(const struct isolation *iso)
{
    json_t *o = json_object();
    put(o, "level", json_string(level_name(iso->level)));
    put(o, "layers", json_layer_set(iso->layers));
    put(o, "unenforced", json_limit_set(iso->unenforced));
    return o;
}

static json_t *usage_object(const struct usage *u)
{
    json_t *o = json_object();
    put(o, "wall_ms", json_real((double)u->wall_us / 1000));
    put(o, "cpu_ms", json_real((double)u->cpu_us / 1000));
    put(o, "memory_peak_bytes", json_integer((json_int_t)u->memory_peak_bytes));
    put(o, "pids_peak", json_integer((json_int_t)u->pids_peak));
    return o;
}

static json_t *files_array(const struct buf *bundle)
{
    json_t *list = json_array();
    struct bundle_entry entry;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(bundle, &pos, &entry, &more, &e) == 0 && more;) {
        enum output_status status = (enum output_status)entry.head.mode_or_status;
        json_t *o = json_object();
        auto(buf) name = { 0 };
        if (text_add_utf8(&name, entry.name, entry.head.name_len, &e) == 0)
            put(o, "name", json_stringn_nocheck(buf_str(&name), name.len));
        put(o, "status", json_string(output_status_word(status)));
        put(o, "size",
            status == OUTPUT_OK ? json_integer((json_int_t)entry.head.size) : json_null());
        (void)json_array_append_new(list, o);
    }
    return list;
}

static json_t *version_string(int fd)
{
    char text[64];
    const char *version = version_probe_read(fd, text, sizeof text);
    return version ? json_string(version) : json_null();
}

static json_t *timestamp(uint64_t unix_ms)
{
    char text[40];
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc;
    if (unix_ms == 0 || !gmtime_r(&seconds, &utc))
        return json_null();
    size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(text + n, sizeof text - n, ".%03uZ", (unsigned)(unix_ms % 1000));
    return json_string(text);
}

static json_t *signal_name(int number)
{
    char text[32];
    const char *name = number ? sigabbrev_np(number) : NULL;
    if (!number)
        return json_null();
    if (name)
        (void)snprintf(text, sizeof text, "SIG%s", name);
    else
        (void)snprintf(text, sizeof text, "SIG%d", number);
    return json_string(text);
}

int report_json(const struct report *r, struct err *e)
{
    const struct run *run = r->run;
    json_t *o = json_object();
    put(o, "id", json_string(r->job->id));
    put(o, "language", json_string(r->job->inputs->language->name));
    put(o, "version", version_string(r->job->version_fd));
    put(o, "verdict", json_string(verdict_word(r->verdict)));
    put(o, "success", json_boolean(r->verdict == VERDICT_OK));
    put(o, "exit_code", json_integer(verdict_exit_code(r->verdict, &run->end.evidence)));
    put(o, "signal", signal_name(run->end.evidence.signal));
    put_stream(o, "stdout", &r->captured[RUN_STDOUT]);
    put_stream(o, "stderr", &r->captured[RUN_STDERR]);
    put(o, "stdout_truncated", json_boolean(run->streams[RUN_STDOUT].truncated));
    put(o, "stderr_truncated", json_boolean(run->streams[RUN_STDERR].truncated));
    put(o, "usage", usage_object(&run->end.usage));
    put(o, "limits", limits_object(&run->limits));
    put(o, "limits_hit", json_limit_set(run->end.evidence.hits));
    put(o, "isolation", isolation_object(&run->isolation));
    put(o, "files", files_array(&run->outputs));
    put(o, "started_at", timestamp(run->started_at_ms));
    if (r->verdict == VERDICT_INTERNAL_ERROR)
        put(o, "error", json_string(run->end.err.text));
    int failed = json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12)) < 0 ||
                 putchar('\n') == EOF || fflush(stdout) == EOF;
    json_decref(o);
    return failed ? err_set(e, ERR_KERNEL, errno, "write the result") : 0;
}
