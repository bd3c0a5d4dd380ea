#include "cli/commands/history_view.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && *text ? text : NULL;
}

static const char *or_dash(const json_t *o, const char *key, char *out, size_t size)
{
    const char *text = text_of(o, key);
    return text ? text_quote(text, out, size) : "-";
}

/* "2026-01-31 12:00:00" of "2026-01-31T12:00:00.123Z" */
static const char *moment(const json_t *run, char *out, size_t size)
{
    const char *text = text_of(run, "created_at");
    char quoted[64];
    if (!text)
        text = text_of(json_object_get(run, "timings"), "queued_at");
    (void)snprintf(out, size, "%.19s", text ? text_quote(text, quoted, sizeof quoted) : "-");
    char *t = strchr(out, 'T');
    if (t)
        *t = ' ';
    return out;
}

static const char *span(const json_t *run, const char *key, char *out, size_t size)
{
    const json_t *value = json_object_get(json_object_get(run, "usage"), key);
    double ms = json_number_value(value);
    if (!json_is_number(value))
        (void)snprintf(out, size, "-");
    else if (ms < 1000)
        (void)snprintf(out, size, ms < 10 ? "%.1f ms" : "%.0f ms", ms);
    else
        (void)snprintf(out, size, "%.2f s", ms / 1e3);
    return out;
}

static const char *verdict_or_state(const json_t *run, char *out, size_t size)
{
    return text_of(run, "verdict") ? or_dash(run, "verdict", out, size)
                                   : or_dash(run, "state", out, size);
}

#define ROW_FORMAT "%-19s  %-31s  %-10s  %-15s  %9s  %-16s  %s\n"

void history_print_list(const json_t *runs)
{
    size_t i;
    json_t *run;
    (void)printf(ROW_FORMAT, "TIME", "ID", "LANGUAGE", "VERDICT", "WALL", "KEY", "THREAD");
    json_array_foreach(runs, i, run) {
        char time[32], id[96], language[96], verdict[96], wall[32], key[96], thread[96];
        (void)printf(ROW_FORMAT, moment(run, time, sizeof time), or_dash(run, "id", id, sizeof id),
                     or_dash(run, "language", language, sizeof language),
                     verdict_or_state(run, verdict, sizeof verdict),
                     span(run, "wall_ms", wall, sizeof wall), or_dash(run, "key", key, sizeof key),
                     or_dash(run, "thread_id", thread, sizeof thread));
    }
}

/* Prints text without the characters that control a terminal. */
static int print_plain(const char *bytes, size_t n, struct err *e)
{
    scoped(buf) clean = { 0 };
    if (text_add_utf8(&clean, bytes, n, e))
        return -1;
    const unsigned char *p = (const unsigned char *)buf_str(&clean);
    for (const unsigned char *end = p + clean.len; p < end; p++) {
        bool control = (*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7F;
        bool wide = p[0] == 0xC2 && p[1] < 0xA0; /* U+0080 to U+009F */
        (void)putchar(control || wide ? '?' : *p);
        p += wide;
    }
    if (n > 0 && bytes[n - 1] != '\n')
        (void)putchar('\n');
    return 0;
}

static int print_stream(const json_t *run, const char *name, bool all, struct err *e)
{
    const json_t *text = json_object_get(run, name);
    char key[32];
    (void)snprintf(key, sizeof key, "%s_bytes", name);
    const json_t *total = json_object_get(run, key);
    size_t n = json_string_length(text), shown = all || n < HISTORY_SHOWN ? n : HISTORY_SHOWN;
    unsigned long long bytes = json_is_integer(total)
                                   ? (unsigned long long)json_integer_value(total)
                                   : n;
    (void)printf("\n%s: %llu bytes%s\n", name, bytes,
                 shown < bytes && !all ? "; the first of them, --all shows the rest" : "");
    return print_plain(json_string_value(text) ? json_string_value(text) : "", shown, e);
}

static void print_memory(const json_t *run)
{
    const json_t *peak = json_object_get(json_object_get(run, "usage"), "memory_peak_bytes");
    if (json_is_integer(peak))
        (void)printf("memory    %.1f MiB\n", (double)json_integer_value(peak) / (1 << 20));
    else
        (void)printf("memory    -\n");
}

int history_print_one(const json_t *run, bool all, struct err *e)
{
    static const char *const words[] = { "id", "state", "language", "verdict" };
    static const char *const owners[][2] = { { "key", "key" }, { "thread", "thread_id" } };
    const json_t *code = json_object_get(run, "code");
    char text[96];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        (void)printf("%-10s%s\n", words[i], or_dash(run, words[i], text, sizeof text));
    (void)printf("accepted  %s UTC\n", moment(run, text, sizeof text));
    (void)printf("wall      %s\n", span(run, "wall_ms", text, sizeof text));
    (void)printf("cpu       %s\n", span(run, "cpu_ms", text, sizeof text));
    print_memory(run);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        (void)printf("%-10s%s\n", owners[i][0], or_dash(run, owners[i][1], text, sizeof text));
    if (json_is_string(code)) {
        (void)printf("\ncode:\n");
        if (print_plain(json_string_value(code), json_string_length(code), e))
            return -1;
    }
    return print_stream(run, "stdout", all, e) || print_stream(run, "stderr", all, e) ? -1 : 0;
}
