/* Results of tools as content: short, the diagnosis first, and a link to the whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/mcp/mcp.h"
#include "api/runs/run_result.h"
#include "api/sessions/cell_result.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "session/events.h"

enum {
    OUTPUT_SHOWN = 8000,
    IMAGES_SHOWN = 8,
    IMAGE_BYTES_MAX = 4 << 20, /* of base64, of all images together */
    TABLE_ROWS_SHOWN = 50,
    CELL_SHOWN = 60, /* bytes of one value of a table */
};

json_t *mcp_text_content(const char *text, size_t n)
{
    scoped(buf) clean = { 0 };
    struct err e;
    if (text_add_utf8(&clean, text, n, &e))
        return NULL;
    return json_pack("{s:s, s:o}", "type", "text", "text",
                     json_stringn(buf_str(&clean), clean.len));
}

void mcp_add_text(json_t *content, const char *text, size_t n)
{
    if (n > 0)
        (void)json_array_append_new(content, mcp_text_content(text, n));
}

/* A middle that is left out is named, so that a model does not take the rest for the whole. */
static int cut_middle(struct buf *out, const char *text, size_t n, size_t max, struct err *e)
{
    if (n <= max)
        return text_add_utf8(out, text, n, e);
    size_t head = text_whole(text, max * 2 / 3), tail = max / 3;
    while (tail > 0 && ((unsigned char)text[n - tail] & 0xC0) == 0x80) /* inside a character */
        tail--;
    return text_add_utf8(out, text, head, e) ||
                   buf_addf(out, e, "\n[... %zu bytes left out ...]\n", n - head - tail) ||
                   text_add_utf8(out, text + n - tail, tail, e)
               ? -1
               : 0;
}

void mcp_add_cut(json_t *content, const char *text, size_t n, size_t max)
{
    scoped(buf) shown = { 0 };
    struct err e;
    if (cut_middle(&shown, text, n, max, &e) == 0)
        mcp_add_text(content, buf_str(&shown), shown.len);
}

static int add_escaped(struct buf *b, const char *text, struct err *e)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "-._~/";
    for (; *text; text++)
        if (strchr(plain, *text) ? buf_add(b, text, 1, e)
                                 : buf_addf(b, e, "%%%02X", (unsigned char)*text))
            return -1;
    return 0;
}

void mcp_uri(char *out, size_t size, const char *noun, const char *id, const char *kind,
             const char *name)
{
    scoped(buf) b = { 0 };
    struct err e;
    (void)!(buf_addf(&b, &e, "belljar://%s/%s%s%s%s", noun, id, kind ? "/" : "", kind ? kind : "",
                     name ? "/" : "") ||
            (name && add_escaped(&b, name, &e)));
    (void)snprintf(out, size, "%s", buf_str(&b));
}

void mcp_add_link(const struct mcp_request *r, json_t *content, const char *uri, const char *name,
                  const char *type, const char *help)
{
    if (r->client.revision >= MCP_2025_06_18) {
        (void)json_array_append_new(content, json_pack("{s:s, s:s, s:s, s:s, s:s*}", "type",
                                                       "resource_link", "uri", uri, "name", name,
                                                       "description", help, "mimeType", type));
        return;
    }
    json_t *text = json_sprintf("%s: %s", help, uri);
    (void)json_array_append_new(content, json_pack("{s:s, s:o}", "type", "text", "text", text));
}

/* ---- diagnoses ---- */

static void add_suggestion(struct buf *b, const json_t *s)
{
    struct err e;
    const char *replacement = mcp_text(s, "replacement");
    (void)!buf_addf(b, &e, "Suggestion: %s\n", mcp_text(s, "text"));
    if (replacement)
        (void)!buf_addf(b, &e, "    %s\n", replacement);
}

void mcp_add_diagnosis(struct buf *b, const json_t *d)
{
    struct err e;
    const json_t *place = json_object_get(d, "location"), *line = json_object_get(place, "line");
    const char *type = mcp_text(d, "type"), *file = mcp_text(place, "file");
    const json_t *excerpt = json_object_get(d, "excerpt");
    const json_t *suggestions = json_object_get(d, "suggestions");
    if (!json_is_object(d))
        return;
    (void)!buf_addf(b, &e, "%s%s%s", type ? type : "", type ? ": " : "", mcp_text(d, "message"));
    if (json_is_integer(line))
        (void)!buf_addf(b, &e, " (%s%sline %lld)", file ? file : "", file ? ", " : "",
                        (long long)json_integer_value(line));
    (void)!buf_add(b, "\n", 1, &e);
    for (size_t i = 0; i < json_array_size(excerpt); i++) {
        const json_t *row = json_array_get(excerpt, i);
        (void)!buf_addf(b, &e, "%6lld | %s\n",
                        (long long)json_integer_value(json_object_get(row, "line")),
                        mcp_text(row, "text"));
    }
    for (size_t i = 0; i < json_array_size(suggestions) && i < 2; i++)
        add_suggestion(b, json_array_get(suggestions, i));
}

/* ---- runs ---- */

struct run_answer {
    struct mcp_request *r;
    const struct run *run;
    const json_t *result; /* of the run, or of the cell */
    json_t *content, *structured;
    size_t image_bytes;
    int images;
    bool truncated;
};

static size_t output_max(const struct mcp_request *r)
{
    const json_t *most = json_object_get(r->arguments, "max_output");
    return json_is_integer(most) ? (size_t)json_integer_value(most) : OUTPUT_SHOWN;
}

/* One stream as text, cut in the middle. */
static void stream_text(struct run_answer *a, enum journal_kind kind, struct buf *out)
{
    scoped(buf) raw = { 0 };
    struct err e;
    size_t max = output_max(a->r);
    uint64_t n = a->run->journal.stream_bytes[kind];
    if (n <= max) {
        if (journal_collect(&a->run->journal, kind, UINT64_MAX, &raw, &e) == 0)
            (void)!text_add_utf8(out, buf_str(&raw), raw.len, &e);
        return;
    }
    a->truncated = true;
    if (journal_both_ends(&a->run->journal, kind, max, &raw, &e) || raw.len <= max / 2)
        return;
    (void)!(text_add_utf8(out, raw.data, max / 2, &e) ||
            buf_addf(out, &e, "\n[... %llu bytes left out ...]",
                     (unsigned long long)(n - max / 2 * 2)) ||
            text_add_utf8(out, raw.data + max / 2, raw.len - max / 2, &e));
}

static void add_stream(struct run_answer *a, enum journal_kind kind, const char *name)
{
    scoped(buf) text = { 0 };
    scoped(buf) shown = { 0 };
    struct err e;
    char uri[96];
    bool was = a->truncated;
    a->truncated = false;
    stream_text(a, kind, &text);
    json_put(a->structured, name, json_stringn(buf_str(&text), text.len));
    if (text.len > 0 && kind == JOURNAL_STDERR)
        (void)!buf_addf(&shown, &e, "stderr:\n");
    (void)!buf_add(&shown, buf_str(&text), text.len, &e);
    mcp_add_text(a->content, buf_str(&shown), shown.len);
    if (a->truncated) {
        mcp_uri(uri, sizeof uri, "runs", a->run->id, name, NULL);
        mcp_add_link(a->r, a->content, uri, name, "text/plain", "the whole output");
    }
    a->truncated = a->truncated || was;
}

/* The first text of a failure: the verdict, and its cause. */
static void add_failure(struct run_answer *a)
{
    scoped(buf) b = { 0 };
    struct err e;
    char sentence[400];
    const json_t *error = json_object_get(a->result, "error"), *note;
    const char *verdict = mcp_text(a->result, "verdict"), *name = mcp_text(error, "name");
    size_t i;
    (void)!buf_addf(&b, &e, "Failed: %s", verdict ? verdict : "unknown");
    if (json_is_integer(json_object_get(a->result, "exit_code")))
        (void)!buf_addf(&b, &e, " (exit code %lld)",
                        (long long)json_integer_value(json_object_get(a->result, "exit_code")));
    (void)!buf_add(&b, "\n", 1, &e);
    mcp_add_diagnosis(&b, json_object_get(a->result, "diagnosis"));
    if (!json_is_object(json_object_get(a->result, "diagnosis"))) {
        if (run_end_sentence(&a->run->result, sentence, sizeof sentence))
            (void)!buf_addf(&b, &e, "%s\n", sentence);
        if (name)
            (void)!buf_addf(&b, &e, "%s: %s\n", name, mcp_text(error, "message"));
        json_array_foreach(json_object_get(a->result, "notes"), i, note)
            (void)!buf_addf(&b, &e, "%s\n", json_string_value(note));
    }
    mcp_add_text(a->content, buf_str(&b), b.len);
    mcp_log(a->r, MCP_WARNING, "%s failed: %s", a->run->id, verdict ? verdict : "unknown");
}

/* ---- tables ---- */

static void add_value(struct buf *b, const json_t *v)
{
    struct err e;
    char *text = json_is_string(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
    const char *shown = json_is_string(v) ? json_string_value(v) : text ? text : "";
    size_t n = strlen(shown);
    (void)!(text_add_utf8(b, shown, n < CELL_SHOWN ? n : text_whole(shown, CELL_SHOWN), &e) ||
            (n > CELL_SHOWN && buf_addf(b, &e, "...")));
    free(text);
}

static void add_table(struct run_answer *a, const json_t *table)
{
    scoped(buf) b = { 0 };
    struct err e;
    const json_t *columns = json_object_get(table, "columns"),
                 *rows = json_object_get(table, "rows");
    size_t n = json_array_size(rows), width = json_array_size(columns);
    for (size_t i = 0; i < width; i++)
        (void)!buf_addf(&b, &e, "%s%s", i ? " | " : "",
                        mcp_text(json_array_get(columns, i), "name"));
    (void)!buf_add(&b, "\n", 1, &e);
    for (size_t i = 0; i < n && i < TABLE_ROWS_SHOWN; i++) {
        const json_t *row = json_array_get(rows, i);
        for (size_t k = 0; k < json_array_size(row); k++) {
            (void)!buf_addf(&b, &e, "%s", k ? " | " : "");
            add_value(&b, json_array_get(row, k));
        }
        (void)!buf_add(&b, "\n", 1, &e);
    }
    long long count = json_integer_value(json_object_get(table, "row_count"));
    if (count > TABLE_ROWS_SHOWN)
        (void)!buf_addf(&b, &e, "[%lld rows in all]\n", count);
    mcp_add_text(a->content, buf_str(&b), b.len);
}

static void add_tables(struct run_answer *a)
{
    const json_t *tables = json_object_get(a->result, "tables");
    json_t *shown = json_array();
    for (size_t i = 0; i < json_array_size(tables); i++) {
        json_t *copy = json_deep_copy(json_array_get(tables, i));
        json_t *rows = json_object_get(copy, "rows");
        while (json_array_size(rows) > TABLE_ROWS_SHOWN)
            (void)json_array_remove(rows, json_array_size(rows) - 1);
        add_table(a, copy);
        (void)json_array_append_new(shown, copy);
    }
    if (json_array_size(shown) > 0)
        json_put(a->structured, "tables", shown);
    else
        json_decref(shown);
}

/* ---- displays ---- */

static bool add_image(struct run_answer *a, const json_t *data)
{
    static const char *const types[] = { "image/png", "image/jpeg", "image/gif", "image/webp" };
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        const json_t *image = json_object_get(data, types[i]);
        size_t n = json_string_length(image);
        if (n == 0)
            continue;
        if (a->images >= IMAGES_SHOWN || a->image_bytes + n > IMAGE_BYTES_MAX) {
            mcp_add_text(a->content, "[a further image is not shown: the run has it]", 46);
            return true;
        }
        a->image_bytes += n;
        a->images++;
        (void)json_array_append_new(a->content, json_pack("{s:s, s:O, s:s}", "type", "image",
                                                          "data", image, "mimeType", types[i]));
        return true;
    }
    return false;
}

/* The best form of one value by MIME type: an image, or text. */
static void add_display(struct run_answer *a, const json_t *data)
{
    static const char *const types[] = { "text/plain", "text/markdown", "text/html",
                                         "image/svg+xml" };
    json_t *tables = json_object_get(a->structured, "tables");
    json_t *json = json_object_get(data, "application/json");
    if (json) {
        if (!tables) {
            tables = json_array();
            json_put(a->structured, "tables", tables);
        }
        (void)json_array_append(tables, json);
    }
    if (add_image(a, data))
        return;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        const json_t *text = json_object_get(data, types[i]);
        if (json_string_length(text) == 0)
            continue;
        mcp_add_cut(a->content, json_string_value(text), json_string_length(text),
                    output_max(a->r));
        return;
    }
}

static void add_displays(struct run_answer *a)
{
    const json_t *displays = json_object_get(a->result, "displays");
    const json_t *result = json_object_get(a->result, "result");
    const json_t *text = json_object_get(result, "text/plain");
    for (size_t i = 0; i < json_array_size(displays); i++)
        add_display(a, json_object_get(json_array_get(displays, i), "data"));
    if (!json_is_object(result))
        return;
    add_display(a, result);
    if (json_string_length(text) > 0) {
        scoped(buf) shown = { 0 };
        struct err e;
        if (cut_middle(&shown, json_string_value(text), json_string_length(text), output_max(a->r),
                       &e) == 0)
            json_put(a->structured, "result", json_stringn(buf_str(&shown), shown.len));
    }
}

/* ---- files ---- */

static void add_files(struct run_answer *a)
{
    const json_t *files = json_object_get(a->result, "files");
    json_t *names = json_array();
    char uri[2000];
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *f = json_array_get(files, i);
        const char *name = mcp_text(f, "name"), *status = mcp_text(f, "status");
        if (!name || !status || strcmp(status, "ok") != 0)
            continue;
        (void)json_array_append_new(names, json_string(name));
        mcp_uri(uri, sizeof uri, "runs", a->run->id, "files", name);
        mcp_add_link(a->r, a->content, uri, name, NULL, "an output of the run");
    }
    if (json_array_size(names) > 0)
        json_put(a->structured, "files", names);
    else
        json_decref(names);
}

static void copy_field(struct run_answer *a, const char *from, const char *to)
{
    json_t *v = json_object_get(a->result, from);
    if (v && !json_is_null(v))
        (void)json_object_set(a->structured, to, v);
}

static void add_facts(struct run_answer *a, bool success)
{
    static const char *const same[] = { "verdict", "exit_code", "diagnosis", "cell", "session" };
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        copy_field(a, same[i], same[i]);
    json_put(a->structured, "language", json_string(a->run->spec.language->name));
    json_put(a->structured, "success", json_boolean(success));
    json_put(a->structured, "truncated", json_boolean(a->truncated));
    json_t *usage = json_object_get(a->result, "usage");
    json_t *wall = json_object_get(usage, "wall_ms");
    if (wall)
        (void)json_object_set(a->structured, "duration_ms", wall);
    if (a->images > 0)
        json_put(a->structured, "images", json_integer(a->images));
}

void mcp_answer_run(struct mcp_request *r, const struct run *run, bool is_cell)
{
    size_t room = GUEST_VALUES_MAX;
    json_auto_t *result = is_cell ? cell_object(run->result_json, &run->journal, &room)
                                  : json_incref(run->result_json);
    const char *verdict = mcp_text(result, "verdict"), *status = mcp_text(result, "status");
    bool success = verdict && strcmp(verdict, "ok") == 0 && (!status || strcmp(status, "ok") == 0);
    struct run_answer a = { .r = r, .run = run, .result = result, .content = json_array() };
    a.structured = json_pack("{s:s, s:s}", "run_id", run->id, "state", "finished");
    if (!success)
        add_failure(&a);
    add_stream(&a, JOURNAL_STDOUT, "stdout");
    add_stream(&a, JOURNAL_STDERR, "stderr");
    add_tables(&a);
    add_displays(&a);
    add_files(&a);
    add_facts(&a, success);
    if (json_array_size(a.content) == 0)
        mcp_add_text(a.content, "(no output)", 11);
    mcp_tool_answer(r, a.content, a.structured, !success);
}
