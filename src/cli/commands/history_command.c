/* `belljar history`: the runs of the service, read from its database, or asked for by its URL. */
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
#include "cli/commands/history_view.h"
#include "cli/commands/service_ask.h"
#include "cli/commands/service_db.h"
#include "cli/commands/service_line.h"
#include "run/journal.h"
#include "run/json.h"
#include "run/result.h"
#include "runtime/language.h"
#include "spec/verdict.h"
#include "store/run_rows.h"

enum { LIST_DEFAULT = 20, LIST_MAX = 1000, ANSWER_MS = 60000 };
enum { STREAM_MAX = 256 << 20 };

struct history_options {
    struct service_choice service;
    struct run_query query;
    const struct language *language;
    const char *since; /* as it was given */
    bool json, all;
};

static int set_since(void *options, const struct arg_row *row, const char *text, struct err *e)
{
    struct history_options *o = options;
    o->since = text;
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
    { "all", .offset = AT(all), .help = "with an ID: all of its output" },
    { "number", "N", .letter = 'n', .apply = set_number, .default_text = "20",
      .help = "the last N runs" },
    { "language", "LANG", .offset = AT(language), .apply = args_language,
      .values = { VALUES_WORDS, args_language_at }, .help = "only runs of this language" },
    { "verdict", "VERDICT", .apply = set_verdict, .shows_words = true,
      .values = { VALUES_WORDS, verdict_at }, .help = "only runs with this verdict" },
    { "since", "DUR|TIME", .apply = set_since,
      .help = "only runs of this time before now, such as 2h, or since 2026-01-31T12:00:00Z" },
    SERVICE_ROWS(struct history_options, service),
};
#undef AT

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

/* ---- from the database ---- */

static int list_here(struct db *db, const struct history_options *o, json_t **ret, struct err *e)
{
    scoped(run_records) found = { 0 };
    if (runs_list(db, &o->query, &found, e))
        return -1;
    *ret = json_array();
    for (size_t i = 0; i < found.n; i++)
        (void)json_array_append_new(*ret, row_json(&found.rows[i]));
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

/* Releases the object on failure. */
static int add_streams(json_t *o, const struct journal *j, uint64_t max, struct err *e)
{
    static const char *const names[JOURNAL_STREAMS] = { "stdout", "stderr" };
    for (int i = 0; o && i < JOURNAL_STREAMS; i++) {
        char total[32];
        scoped(buf) bytes = { 0 };
        if (journal_collect(j, (enum journal_kind)i, max, &bytes, e)) {
            json_decref(o);
            return -1;
        }
        (void)snprintf(total, sizeof total, "%s_bytes", names[i]);
        result_add_stream(o, names[i], &bytes);
        (void)json_object_set_new(o, total, json_integer((json_int_t)j->stream_bytes[i]));
    }
    return 0;
}

static int one_here(const struct service_db *h, const char *id, const struct history_options *o,
                    json_t **ret, struct err *e)
{
    scoped(run_record) r = { 0 };
    struct journal j;
    if (runs_get(h->db, id, RUN_WITH_JOURNAL, &r, e) || read_journal(h, &r, &j, e))
        return -1;
    json_t *run = row_json(&r),
           *result = r.result ? json_loads(r.result, JSON_ALLOW_NUL, NULL) : NULL;
    (void)json_object_update(run, result); /* the result has more fields, and the whole usage */
    json_decref(result);
    int rc = add_streams(run, &j, o->json || o->all ? UINT64_MAX : HISTORY_SHOWN, e);
    journal_done(&j);
    if (rc)
        return -1;
    if (r.code)
        (void)json_object_set_new(run, "code", text_json(r.code, strlen(r.code)));
    *ret = run;
    return 0;
}

static int read_here(const struct history_options *o, const char *id, json_t **ret, struct err *e)
{
    scoped(service_db) h = { 0 };
    if (service_db_open(&h, o->service.state, DB_READ, e))
        return -1;
    return id ? one_here(&h, id, o, ret, e) : list_here(h.db, o, ret, e);
}

/* ---- from a service with a URL ---- */

static int add_parameter(struct buf *b, const char *key, const char *value, struct err *e)
{
    if (!value)
        return 0;
    return buf_addf(b, e, "&%s=", key) || client_add_escaped(b, value, e) ? -1 : 0;
}

static int ask_list(struct client *c, const struct history_options *o, json_t **ret, struct err *e)
{
    scoped(buf) path = { 0 };
    json_auto_t *answer = NULL;
    if (buf_addf(&path, e, "/v1/runs?limit=%u", o->query.limit) ||
        add_parameter(&path, "language", o->query.language, e) ||
        add_parameter(&path, "verdict", o->query.verdict, e) ||
        add_parameter(&path, "since", o->since, e) ||
        service_line_ask(c, "GET", buf_str(&path), NULL, &answer, e))
        return -1;
    *ret = json_incref(json_object_get(answer, "runs"));
    return *ret ? 0 : err_set(e, ERR_PROTOCOL, 0, "the service sent no list of runs");
}

/* The service puts only the beginning of a long stream into a result. */
static int ask_whole(struct client *c, json_t *run, const char *path, const char *name,
                     struct err *e)
{
    scoped(buf) route = { 0 };
    scoped(buf) bytes = { 0 };
    char cut[32];
    size_t len;
    (void)snprintf(cut, sizeof cut, "%s_cut", name);
    if (!json_is_true(json_object_get(run, cut)))
        return 0;
    if (buf_addf(&route, e, "%s/%s", path, name))
        return -1;
    const struct client_request q = { .method = "GET",
                                      .path = buf_str(&route),
                                      .body_max = STREAM_MAX };
    if (client_ask(c, &q, ANSWER_MS, e))
        return -1;
    if (client_response(c)->status / 100 != 2)
        return service_refusal(c, e);
    const char *all = client_body(c, &len);
    if (buf_add(&bytes, all, len, e))
        return -1;
    result_add_stream(run, name, &bytes);
    return json_object_del(run, cut);
}

static int ask_one(struct client *c, const struct history_options *o, const char *id, json_t **ret,
                   struct err *e)
{
    autofree char *path = NULL, *request_path = NULL;
    json_auto_t *run = NULL, *request = NULL;
    if (service_path("runs", id, NULL, &path, e) ||
        service_path("runs", id, "request", &request_path, e) ||
        service_line_ask(c, "GET", path, NULL, &run, e) ||
        service_line_ask(c, "GET", request_path, NULL, &request, e))
        return -1;
    if ((o->all || o->json) &&
        (ask_whole(c, run, path, "stdout", e) || ask_whole(c, run, path, "stderr", e)))
        return -1;
    (void)json_object_set(run, "code", json_object_get(request, "code"));
    *ret = json_incref(run);
    return 0;
}

static void client_end(struct client **c)
{
    client_done(c);
}

static int ask_service(const struct history_options *o, const char *id, json_t **ret, struct err *e)
{
    __attribute__((cleanup(client_end))) struct client *c = NULL;
    if (service_line_open(&o->service, &c, e))
        return -1;
    return id ? ask_one(c, o, id, ret, e) : ask_list(c, o, ret, e);
}

/* ---- the command ---- */

static void set_defaults(void *options)
{
    ((struct history_options *)options)->query.limit = LIST_DEFAULT;
}

/* `history ID` and `history show ID`. NULL: the list. */
static int operand(int argc, char **argv, const char **ret, struct err *e)
{
    bool shows = argc > 0 && strcmp(argv[0], "show") == 0;
    if (shows && argc == 1)
        return err_set(e, ERR_USAGE, 0, "history show needs an id: 'belljar history show ID'");
    if (!shows && argc > 1)
        return err_set(e, ERR_USAGE, 0, "'%s' is one word too many: 'belljar history show ID'",
                       QUOTED(argv[1]));
    *ret = argc > 0 ? argv[argc - 1] : NULL;
    return 0;
}

static int history(void *options, int argc, char **argv, struct err *e)
{
    struct history_options *o = options;
    json_auto_t *found = NULL;
    const char *id = NULL;
    if (service_choice_check(&o->service, e) || operand(argc, argv, &id, e))
        return -1;
    if (o->language)
        o->query.language = o->language->name;
    if (service_choice_url(&o->service) ? ask_service(o, id, &found, e)
                                        : read_here(o, id, &found, e))
        return -1;
    if (o->json)
        return print_json(json_incref(found), e);
    if (id)
        return history_print_one(found, o->all, e);
    history_print_list(found);
    return 0;
}

const struct cli_command history_command = {
    .name = "history",
    .summary = "show the runs of the service",
    .usage = (const char *const[]){ "[OPTION]...", "[OPTION]... [show] ID", NULL },
    .description =
        "Lists the runs of the service, the newest first. With an ID, shows that run with "
        "its code and its output. The service need not be running. Times are UTC.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .max_operands = 2,
    .examples = (const char *const[]){ "Show the runs of the last two hours that timed out:",
                                       "belljar history --verdict timeout --since 2h",
                                       "Show all output of one run:",
                                       "belljar history show run_1 --all", NULL },
    .options_size = sizeof(struct history_options),
    .init = set_defaults,
    .run = history,
};
