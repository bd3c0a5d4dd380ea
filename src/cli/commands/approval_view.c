#include "cli/commands/approval_view.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/moment.h"
#include "base/units.h"
#include "cli/commands/plain.h"
#include "run/json.h"

static int add_text(struct buf *b, const char *text, struct err *e)
{
    return plain_add(b, text ? text : "-", text ? strlen(text) : 1, e);
}

/* "4m30s left", or the decision. */
static int add_state(struct buf *b, const json_t *approval, struct err *e)
{
    const char *decision = json_find_text(approval, "decision"),
               *until = json_find_text(approval, "expires_at");
    int64_t end_ms = 0, now_ms = clock_unix_ms();
    if (!decision || strcmp(decision, "pending") != 0)
        return add_text(b, decision, e);
    if (!until || moment_parse(until, now_ms, &end_ms) || end_ms <= now_ms)
        return buf_addf(b, e, "waits");
    return buf_addf(b, e, "%" PRId64 " s left", (end_ms - now_ms) / 1000);
}

/* The first line of the code that is not empty, for a list. */
static int add_excerpt(struct buf *b, const char *code, struct err *e)
{
    enum { EXCERPT = 48 };
    code += strspn(code, " \t\r\n");
    size_t n = strcspn(code, "\r\n"), shown = n < EXCERPT ? n : EXCERPT;
    while (shown < n && shown > 0 && (code[shown] & 0xC0) == 0x80)
        shown--;
    return plain_add(b, code, shown, e) || (shown < strlen(code) && buf_addf(b, e, " ...")) ? -1
                                                                                            : 0;
}

int approval_add_row(struct buf *b, const json_t *approval, struct err *e)
{
    const json_t *input = json_object_get(approval, "input");
    const char *code = json_find_text(input, "code");
    scoped(buf) state = { 0 };
    size_t risks = json_array_size(json_object_get(approval, "risks"));
    if (add_state(&state, approval, e) ||
        plain_add_column(b, json_find_text(approval, "id"), 33, e) ||
        plain_add_column(b, json_find_text(input, "language"), 12, e) ||
        plain_add_column(b, buf_str(&state), 12, e) ||
        plain_add_column(b, json_find_text(approval, "thread_id"), 14, e) ||
        buf_addf(b, e, "%2zu %-6s ", risks, risks == 1 ? "risk" : "risks") ||
        (code && add_excerpt(b, code, e)))
        return -1;
    return buf_addf(b, e, "\n");
}

/* ---- one request ---- */

static bool is_empty(const json_t *v)
{
    return json_is_null(v) || json_is_false(v) ||
           (json_is_string(v) && json_string_length(v) == 0) ||
           (json_is_array(v) && json_array_size(v) == 0) ||
           (json_is_object(v) && json_object_size(v) == 0);
}

static int add_value(struct buf *b, const json_t *v, struct err *e)
{
    if (json_is_string(v))
        return plain_add(b, json_string_value(v), json_string_length(v), e);
    autofree char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
    return text ? plain_add(b, text, strlen(text), e) : err_no_memory(e, "a request");
}

/* These have lines of their own. The rest is shown as it is, also a member that is new. */
static bool has_own_place(const char *key)
{
    static const char *const keys[] = { "language", "code", "files", "entry", "limits", "digest" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static int add_members(struct buf *b, json_t *input, struct err *e)
{
    const char *key;
    json_t *v;
    json_object_foreach(input, key, v) {
        if (has_own_place(key) || is_empty(v))
            continue;
        if (buf_addf(b, e, "  ") || plain_add(b, key, strlen(key), e) || buf_addf(b, e, ": ") ||
            add_value(b, v, e) || buf_addf(b, e, "\n"))
            return -1;
    }
    return 0;
}

static int add_limits(struct buf *b, const json_t *limits, struct err *e)
{
    char time[32], memory[32];
    return buf_addf(
        b, e, "  limits: %s, %s of memory, %lld processes\n",
        unit_format(UNIT_MS, (uint64_t)json_integer_value(json_object_get(limits, "wall_ms")), time,
                    sizeof time),
        unit_format(UNIT_BYTES, (uint64_t)json_integer_value(json_object_get(limits, "memory")),
                    memory, sizeof memory),
        (long long)json_integer_value(json_object_get(limits, "pids")));
}

/* True for a risk of this file; the code has none in `file`. */
static bool is_of_file(const json_t *risk, const char *file)
{
    const char *name = json_find_text(risk, "file");
    return file ? name && strcmp(name, file) == 0 : !name && !json_object_get(risk, "where");
}

static int add_risk(struct buf *b, const json_t *risk, struct err *e)
{
    const char *place = json_find_text(risk, "where");
    return buf_addf(b, e, "      ! ") || add_text(b, json_find_text(risk, "kind"), e) ||
                   (place && (buf_addf(b, e, " in ") || add_text(b, place, e))) ||
                   buf_addf(b, e, ": ") || add_text(b, json_find_text(risk, "why"), e) ||
                   buf_addf(b, e, "\n")
               ? -1
               : 0;
}

/* line 0: risks that belong to no line of any file. */
static int add_risks(struct buf *b, json_t *risks, const char *file, size_t line, struct err *e)
{
    json_t *risk;
    size_t i;
    json_array_foreach(risks, i, risk) {
        size_t at = (size_t)json_integer_value(json_object_get(risk, "line"));
        bool here = line > 0 ? at == line && is_of_file(risk, file)
                             : at == 0 || json_object_get(risk, "where");
        if (here && add_risk(b, risk, e))
            return -1;
    }
    return 0;
}

static int add_lines(struct buf *b, const char *text, json_t *risks, const char *file,
                     struct err *e)
{
    size_t number = 1;
    for (const char *line = text; *line; number++) {
        size_t n = strcspn(line, "\n"), shown = n > 0 && line[n - 1] == '\r' ? n - 1 : n;
        if (plain_add_line(b, number, line, shown, e) || add_risks(b, risks, file, number, e))
            return -1;
        line += n + (line[n] == '\n');
    }
    return 0;
}

static int add_file(struct buf *b, const json_t *file, const char *entry, json_t *risks,
                    struct err *e)
{
    const char *name = json_find_text(file, "name"), *content = json_find_text(file, "content");
    bool shown_as_code = !content && name && entry && strcmp(name, entry) == 0;
    if (shown_as_code)
        return 0;
    if (buf_addf(b, e, "  file ") || add_text(b, name, e) ||
        buf_addf(b, e, ", %lld bytes%s\n",
                 (long long)json_integer_value(json_object_get(file, "size")),
                 content ? "" : ", not shown"))
        return -1;
    return content ? add_lines(b, content, risks, name, e) : 0;
}

static int add_files(struct buf *b, const json_t *input, json_t *risks, struct err *e)
{
    json_t *file;
    size_t i;
    json_array_foreach(json_object_get(input, "files"), i, file) {
        if (add_file(b, file, json_find_text(input, "entry"), risks, e))
            return -1;
    }
    return 0;
}

int approval_add(struct buf *b, const json_t *approval, struct err *e)
{
    json_t *input = json_object_get(approval, "input"), *risks = json_object_get(approval, "risks");
    const char *code = json_find_text(input, "code"),
               *thread = json_find_text(approval, "thread_id");
    if (add_text(b, json_find_text(approval, "id"), e) || buf_addf(b, e, "  ") ||
        add_text(b, json_find_text(input, "language"), e) ||
        (thread && buf_addf(b, e, ", thread ")) || (thread && add_text(b, thread, e)) ||
        buf_addf(b, e, ", ") || add_state(b, approval, e) || buf_addf(b, e, "\n  ") ||
        add_text(b, json_find_text(approval, "reason"), e) || buf_addf(b, e, "\n") ||
        add_limits(b, json_object_get(input, "limits"), e) || add_members(b, input, e) ||
        add_risks(b, risks, NULL, 0, e) || (code && add_lines(b, code, risks, NULL, e)))
        return -1;
    return add_files(b, input, risks, e);
}
