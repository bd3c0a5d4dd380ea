/* `belljar history`: the runs of the service, read from its database. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/moment.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/commands/service_db.h"
#include "run/journal.h"
#include "run/json.h"
#include "run/result.h"
#include "runtime/language.h"
#include "spec/verdict.h"
#include "store/run_rows.h"

enum { LIST_DEFAULT = 20, LIST_MAX = 1000, OUTPUT_SHOWN = 4096 };

struct history_options {
    const char *state;
    struct run_query query;
    const struct language *language;
    bool json;
};

static int set_since(void *options, const struct arg_row *row, const char *text, struct err *e)
{
    struct history_options *o = options;
    if (moment_parse(text, clock_unix_ms(), &o->query.since_ms) == 0)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "--%s '%s' is not a time: " MOMENT_ACCEPTED " is accepted", row->name,
                   QUOTED(text));
}

static int set_verdict(void *options, const struct arg_row *row, const char *word, struct err *e)
{
    enum verdict known;
    ((struct history_options *)options)->query.verdict = word;
    if (verdict_parse(word, &known) == 0)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0, "--%s '%s': one of %s is accepted", row->name,
                   QUOTED(word), verdict_list);
}

static const char *verdict_at(const void *def, size_t i)
{
    (void)def;
    return verdict_words[i];
}

static int set_number(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, LIST_MAX, &((struct history_options *)options)->query.limit, e);
}

#define AT(member) offsetof(struct history_options, member)
static const struct arg_row rows[] = {
    { "json", .offset = AT(json), .help = "print JSON: an array of runs, or the one run" },
    { "number", "N", .letter = 'n', .apply = set_number, .default_text = "20",
      .help = "the last N runs" },
    { "language", "LANG", .offset = AT(language), .apply = args_language,
      .values = { VALUES_WORDS, args_language_at }, .help = "only runs of this language" },
    { "verdict", "VERDICT", .apply = set_verdict, .shows_words = true,
      .values = { VALUES_WORDS, verdict_at }, .help = "only runs with this verdict" },
    { "since", "DUR|TIME", .apply = set_since,
      .help = "only runs of this time before now, such as 2h, or since 2026-01-31T12:00:00Z" },
    { "state", "DIR", .offset = AT(state), .values.kind = VALUES_DIRECTORY,
      .help = "state directory of the service" },
};
#undef AT

/* Callers chose this text, and it goes to a terminal: control characters are escaped. */
static const char *or_dash(const char *text, char *out, size_t size)
{
    return text && *text ? text_quote(text, out, size) : "-";
}

static const char *span(int64_t us, char *out, size_t size)
{
    if (us < 1000000)
        (void)snprintf(out, size, us < 10000 ? "%.1f ms" : "%.0f ms", (double)us / 1e3);
    else
        (void)snprintf(out, size, "%.2f s", (double)us / 1e6);
    return out;
}

#define ROW_FORMAT "%-19s  %-31s  %-10s  %-15s  %9s  %-16s  %s\n"

static void print_row(const struct run_record *r)
{
    char time[32], wall[32] = "-", key[96], thread[96];
    if (r->state == RUN_FINISHED)
        span(r->wall_us, wall, sizeof wall);
    (void)printf(ROW_FORMAT, service_db_time(r->created_ms, time, sizeof time), r->id,
                 r->language ? r->language : "-",
                 r->verdict ? r->verdict : run_state_word(r->state), wall,
                 or_dash(r->key, key, sizeof key), or_dash(r->thread, thread, sizeof thread));
}

/* A JSON string is UTF-8; other bytes are replaced. */
static json_t *text_json(const char *bytes, size_t n)
{
    scoped(buf) clean = { 0 };
    struct err e;
    if (!bytes || text_add_utf8(&clean, bytes, n, &e))
        return json_null();
    return json_stringn(buf_str(&clean), clean.len);
}

static json_t *row_json(const struct run_record *r)
{
    return result_row_json(&(struct result_row){ .id = r->id,
                                                 .state = run_state_word(r->state),
                                                 .language = r->language,
                                                 .verdict = r->verdict,
                                                 .thread = r->thread,
                                                 .artifact = r->artifact,
                                                 .batch = r->batch,
                                                 .surface = r->surface,
                                                 .key = r->key,
                                                 .created_ms = r->created_ms,
                                                 .started_ms = r->started_ms,
                                                 .finished_ms = r->finished_ms,
                                                 .has_usage = r->state == RUN_FINISHED,
                                                 .wall_us = r->wall_us,
                                                 .cpu_us = r->cpu_us,
                                                 .memory_peak = r->memory_peak });
}

/* Prints j and releases it. */
static int print_json(json_t *j, struct err *e)
{
    int rc = j && json_dumpf(j, stdout, JSON_COMPACT | JSON_DIGITS) == 0 && putchar('\n') != EOF
                 ? 0
                 : -1;
    json_decref(j);
    return rc ? err_set(e, ERR_KERNEL, errno, "write the history") : 0;
}

static int list(struct db *db, const struct history_options *o, struct err *e)
{
    scoped(run_records) found = { 0 };
    if (runs_list(db, &o->query, &found, e))
        return -1;
    if (o->json) {
        json_t *all = json_array();
        for (size_t i = 0; i < found.n; i++)
            (void)json_array_append_new(all, row_json(&found.rows[i]));
        return print_json(all, e);
    }
    (void)printf(ROW_FORMAT, "TIME", "ID", "LANGUAGE", "VERDICT", "WALL", "KEY", "THREAD");
    for (size_t i = 0; i < found.n; i++)
        print_row(&found.rows[i]);
    return 0;
}

static int read_journal(const struct service_db *h, const struct run_record *r, struct journal *ret,
                        struct err *e)
{
    char path[STATE_PATH_MAX + 24];
    (void)snprintf(path, sizeof path, "%s/output", h->data_dir);
    autoclose int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return journal_open(ret, r->journal_in_file ? NULL : &r->journal, dir_fd, r->id, e);
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

static int print_stream(const struct journal *j, enum journal_kind kind, const char *name,
                        struct err *e)
{
    scoped(buf) bytes = { 0 };
    if (journal_collect(j, kind, OUTPUT_SHOWN, &bytes, e))
        return -1;
    (void)printf("\n%s: %" PRIu64 " bytes%s\n", name, j->stream_bytes[kind],
                 j->stream_bytes[kind] > bytes.len ? "; the first of them" : "");
    return print_plain(buf_str(&bytes), bytes.len, e);
}

static int print_one(const struct run_record *r, const struct journal *j, struct err *e)
{
    char time[32], wall[32] = "-", cpu[32] = "-", memory[32] = "-", who[96];
    if (r->state == RUN_FINISHED) {
        span(r->wall_us, wall, sizeof wall);
        span(r->cpu_us, cpu, sizeof cpu);
        (void)snprintf(memory, sizeof memory, "%.1f MiB", (double)r->memory_peak / (1 << 20));
    }
    (void)printf("id        %s\nstate     %s\nlanguage  %s\nverdict   %s\n", r->id,
                 run_state_word(r->state), r->language ? r->language : "-",
                 r->verdict ? r->verdict : "-");
    (void)printf("accepted  %s UTC\nwall      %s\ncpu       %s\nmemory    %s\n",
                 service_db_time(r->created_ms, time, sizeof time), wall, cpu, memory);
    (void)printf("key       %s\n", or_dash(r->key, who, sizeof who));
    (void)printf("thread    %s\n", or_dash(r->thread, who, sizeof who));
    if (r->code) {
        (void)printf("\ncode:\n");
        if (print_plain(r->code, strlen(r->code), e))
            return -1;
    }
    return print_stream(j, JOURNAL_STDOUT, "stdout", e) ||
                   print_stream(j, JOURNAL_STDERR, "stderr", e)
               ? -1
               : 0;
}

static int one_json(const struct run_record *r, const struct journal *j, struct err *e)
{
    static const char *const names[JOURNAL_STREAMS] = { "stdout", "stderr" };
    json_t *o = row_json(r),
           *result = r->result ? json_loads(r->result, JSON_ALLOW_NUL, NULL) : NULL;
    (void)json_object_update(o, result); /* the result has more fields, and the whole usage */
    json_decref(result);
    for (int i = 0; o && i < JOURNAL_STREAMS; i++) {
        scoped(buf) bytes = { 0 };
        if (journal_collect(j, (enum journal_kind)i, UINT64_MAX, &bytes, e)) {
            json_decref(o);
            return -1;
        }
        result_add_stream(o, names[i], &bytes);
    }
    if (o && r->code)
        (void)json_object_set_new(o, "code", text_json(r->code, strlen(r->code)));
    return print_json(o, e);
}

static int show(const struct service_db *h, const char *id, bool json, struct err *e)
{
    scoped(run_record) r = { 0 };
    struct journal j;
    if (runs_get(h->db, id, RUN_WITH_JOURNAL, &r, e) || read_journal(h, &r, &j, e))
        return -1;
    int rc = json ? one_json(&r, &j, e) : print_one(&r, &j, e);
    journal_done(&j);
    return rc;
}

static void set_defaults(void *options)
{
    ((struct history_options *)options)->query.limit = LIST_DEFAULT;
}

static int history(void *options, int argc, char **argv, struct err *e)
{
    struct history_options *o = options;
    scoped(service_db) h = { 0 };
    if (o->language)
        o->query.language = o->language->name;
    if (service_db_open(&h, o->state, DB_READ, e))
        return -1;
    return argc > 0 ? show(&h, argv[0], o->json, e) : list(h.db, o, e);
}

const struct cli_command history_command = {
    .name = "history",
    .summary = "show the runs of the service",
    .usage = (const char *const[]){ "[OPTION]... [ID]", NULL },
    .description =
        "Lists the runs of the service, the newest first. With an ID, shows that run with "
        "its code and its output. The service need not be running. Times are UTC.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .max_operands = 1,
    .examples = (const char *const[]){ "Show the Python runs of the last two hours that timed out:",
                                       "belljar history --language python --verdict timeout "
                                       "--since 2h",
                                       NULL },
    .options_size = sizeof(struct history_options),
    .init = set_defaults,
    .run = history,
};
