#include "cli/jupyter/contents.h"

#include <fnmatch.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

static json_t *object_at(const json_t *o, const char *key)
{
    json_t *member = json_object_get(o, key);
    return json_is_object(member) ? json_incref(member) : json_object();
}

/* ---- events ---- */

/* Output that is not UTF-8 comes as base64; it is repaired. */
static json_t *output_text(const json_t *event)
{
    const char *encoded = json_string_value(json_object_get(event, "data_base64"));
    json_t *data = json_object_get(event, "data");
    scoped(buf) bytes = { 0 }, text = { 0 };
    struct err e;
    if (!encoded)
        return json_is_string(data) ? json_incref(data) : json_string("");
    if (text_base64_decode(encoded, strlen(encoded), &bytes, &e) ||
        text_add_utf8(&text, buf_str(&bytes), bytes.len, &e))
        return json_string("");
    return json_stringn_nocheck(buf_str(&text), text.len);
}

static json_t *of_stream(const json_t *event)
{
    return json_pack("{s:s, s:o}", "name", json_get_text(event, "event"), "text",
                     output_text(event));
}

static json_t *of_note(const json_t *event)
{
    return json_pack("{s:s, s:o}", "name", "stderr", "text",
                     json_sprintf("belljar: %s\n", json_get_text(event, "text")));
}

static json_t *of_display(const json_t *event)
{
    json_t *transient = json_object();
    json_t *id = json_object_get(event, "display_id");
    if (json_is_string(id))
        (void)json_object_set(transient, "display_id", id);
    return json_pack("{s:o, s:o, s:o}", "data", object_at(event, "data"), "metadata",
                     object_at(event, "metadata"), "transient", transient);
}

static json_t *of_clear(const json_t *event)
{
    return json_pack("{s:b}", "wait", json_is_true(json_object_get(event, "wait")));
}

static json_t *of_result(const json_t *event)
{
    return json_pack("{s:I, s:o, s:o}", "execution_count",
                     json_integer_value(json_object_get(event, "execution_count")), "data",
                     object_at(event, "data"), "metadata", object_at(event, "metadata"));
}

static json_t *of_error(const json_t *event)
{
    return content_of_failure(json_get_text(event, "name"), json_get_text(event, "message"),
                              json_get_text(event, "traceback"));
}

static const struct {
    const char *event, *type;
    json_t *(*content)(const json_t *event);
} rows[] = {
    { "stdout", "stream", of_stream },
    { "stderr", "stream", of_stream },
    { "note", "stream", of_note },
    { "display", "display_data", of_display },
    { "update_display", "update_display_data", of_display },
    { "clear", "clear_output", of_clear },
    { "result", "execute_result", of_result },
    { "error", "error", of_error },
};

json_t *content_of_event(const json_t *event, const char **ret_type)
{
    const char *name = json_get_text(event, "event");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].event, name) == 0) {
            *ret_type = rows[i].type;
            return rows[i].content(event);
        }
    }
    return NULL;
}

/* ---- errors ---- */

json_t *content_of_failure(const char *name, const char *message, const char *traceback)
{
    json_t *lines = json_array();
    if (!*traceback)
        (void)json_array_append_new(lines, json_sprintf("%s: %s", name, message));
    while (*traceback) {
        size_t n = strcspn(traceback, "\n");
        (void)json_array_append_new(lines, json_stringn(traceback, n));
        traceback += n + (traceback[n] == '\n');
    }
    return json_pack("{s:s, s:s, s:o}", "ename", name, "evalue", message, "traceback", lines);
}

json_t *content_of_end(const json_t *result)
{
    const char *status = json_get_text(result, "status"),
               *verdict = json_get_text(result, "verdict");
    json_t *error = json_object_get(result, "error");
    json_t *notes = json_object_get(result, "notes");
    const char *name = *verdict ? verdict : "error", *sentence = json_get_text(error, "message");
    if (strcmp(status, "ok") == 0)
        return NULL;
    if (json_is_string(error))
        sentence = json_string_value(error);
    if (!*sentence && json_array_size(notes) > 0)
        sentence = json_string_value(json_array_get(notes, json_array_size(notes) - 1));
    return content_of_failure(name, sentence && *sentence ? sentence : "the cell did not end well",
                              "");
}

/* ---- replies ---- */

json_t *content_of_completion(const json_t *answer, json_int_t cursor)
{
    json_t *matches = json_array(), *types = json_array();
    json_t *from = json_object_get(answer, "from"), *to = json_object_get(answer, "to");
    json_int_t start = json_is_integer(from) ? json_integer_value(from) : cursor;
    json_int_t end = json_is_integer(to) ? json_integer_value(to) : cursor;
    size_t i;
    const json_t *match;
    json_array_foreach(json_object_get(answer, "matches"), i, match) {
        const char *type = json_get_text(match, "type");
        (void)json_array_append_new(matches, json_string(json_get_text(match, "text")));
        (void)json_array_append_new(types, json_pack("{s:I, s:I, s:s, s:s}", "start", start, "end",
                                                     end, "text", json_get_text(match, "text"),
                                                     "type", *type ? type : "<unknown>"));
    }
    return json_pack("{s:s, s:o, s:I, s:I, s:{s:o}}", "status", "ok", "matches", matches,
                     "cursor_start", start, "cursor_end", end, "metadata",
                     "_jupyter_types_experimental", types);
}

json_t *content_of_inspection(const json_t *answer)
{
    bool found = json_is_true(json_object_get(answer, "found"));
    json_t *data = json_object();
    if (found)
        json_put(data, "text/plain", json_string(json_get_text(answer, "text")));
    return json_pack("{s:s, s:b, s:o, s:{}}", "status", "ok", "found", found, "data", data,
                     "metadata");
}

/* ---- history ---- */

static bool is_chosen(const json_t *request, json_int_t number, const char *code)
{
    const char *way = json_get_text(request, "hist_access_type");
    if (strcmp(way, "range") == 0) {
        const json_t *stop = json_object_get(request, "stop");
        return json_integer_value(json_object_get(request, "session")) == 0 &&
               number >= json_integer_value(json_object_get(request, "start")) &&
               (!json_is_integer(stop) || number < json_integer_value(stop));
    }
    return strcmp(way, "search") != 0 || fnmatch(json_get_text(request, "pattern"), code, 0) == 0;
}

static json_t *history_row(const json_t *request, const json_t *cell, json_int_t number)
{
    json_t *code = json_incref(json_object_get(cell, "code"));
    json_t *result = json_object_get(json_object_get(cell, "result"), "text/plain");
    if (!json_is_true(json_object_get(request, "output")))
        return json_pack("[i, I, o]", 1, number, code);
    return json_pack("[i, I, [o, o]]", 1, number, code,
                     json_is_string(result) ? json_incref(result) : json_null());
}

json_t *content_of_history(const json_t *cells, const json_t *request)
{
    json_t *history = json_array();
    const json_t *n = json_object_get(request, "n");
    bool is_range = strcmp(json_get_text(request, "hist_access_type"), "range") == 0;
    size_t i, most = SIZE_MAX;
    const json_t *cell;
    if (!is_range && json_is_integer(n))
        most = json_integer_value(n) > 0 ? (size_t)json_integer_value(n) : 0;
    json_array_foreach(json_object_get(cells, "cells"), i, cell) {
        const char *code = json_string_value(json_object_get(cell, "code"));
        const json_t *count = json_object_get(cell, "execution_count");
        json_int_t number = json_integer_value(count);
        if (code && json_is_integer(count) && is_chosen(request, number, code))
            (void)json_array_append_new(history, history_row(request, cell, number));
    }
    while (json_array_size(history) > most)
        (void)json_array_remove(history, 0);
    return json_pack("{s:s, s:o}", "status", "ok", "history", history);
}
