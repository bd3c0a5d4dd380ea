#include "run/reports.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/strv.h"
#include "spec/bundle.h"
#include "spec/job.h"

bool report_expected(const struct language *l, const struct run_options *options)
{
    return l->reports || (l->profile && options && options->profile) ||
           (l->display && options && options->display);
}

char **report_outputs(const struct language *l, const struct run_options *options,
                      char *const *outputs)
{
    size_t n = strv_len(outputs);
    char **list = calloc(n + 2, sizeof *list);
    if (!list)
        return NULL;
    if (n > 0)
        memcpy(list, outputs, n * sizeof *list);
    static char report_file[] =
        REPORT_FILE;    /* never written to; the type of the list has no const */
    bool asked = false; /* a caller who names this file does not get it twice, nor at all */
    for (size_t i = 0; i < n; i++)
        asked = asked || strcmp(list[i], REPORT_FILE) == 0;
    if (report_expected(l, options) && !asked)
        list[n] = report_file;
    return list;
}

/* ---- tables ---- */

static bool is_text(const json_t *v, size_t max)
{
    return json_is_string(v) && json_string_length(v) <= max;
}

/* Every key is known, and all needed keys are present. `may` is an optional key. */
static bool has_keys(const json_t *object, const char *const *needed, size_t n, const char *may)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += json_object_get(object, needed[i]) != NULL;
    found += found == n && may && json_object_get(object, may);
    return json_is_object(object) && json_object_get(object, needed[n - 1]) &&
           found == json_object_size(object) && found >= n;
}

static bool is_cell(const json_t *v)
{
    static const char *const keys[] = { "base64" };
    if (json_is_object(v))
        return has_keys(v, keys, 1, NULL) && json_is_string(json_object_get(v, "base64"));
    return !json_is_array(v);
}

static bool are_columns(const json_t *columns)
{
    static const char *const keys[] = { "name", "type" };
    size_t i;
    json_t *column;
    if (!json_is_array(columns) || json_array_size(columns) > REPORT_COLUMNS_MAX)
        return false;
    json_array_foreach(columns, i, column)
        if (!has_keys(column, keys, 2, NULL) ||
            !is_text(json_object_get(column, "name"), REPORT_NAME_MAX) ||
            !is_text(json_object_get(column, "type"), REPORT_NAME_MAX))
            return false;
    return true;
}

static bool are_rows(const json_t *rows, size_t columns)
{
    size_t i, k;
    json_t *row, *cell;
    if (!json_is_array(rows) || json_array_size(rows) > REPORT_ROWS_MAX)
        return false;
    json_array_foreach(rows, i, row) {
        if (!json_is_array(row) || json_array_size(row) != columns)
            return false;
        json_array_foreach(row, k, cell)
            if (!is_cell(cell))
                return false;
    }
    return true;
}

static bool is_table(const json_t *t)
{
    static const char *const keys[] = { "columns", "rows", "row_count", "truncated" };
    const json_t *columns = json_object_get(t, "columns"), *rows = json_object_get(t, "rows");
    const json_t *count = json_object_get(t, "row_count"), *line = json_object_get(t, "line");
    return has_keys(t, keys, ARRAY_LEN(keys), "line") && are_columns(columns) &&
           are_rows(rows, json_array_size(columns)) && json_is_integer(count) &&
           json_integer_value(count) >= (json_int_t)json_array_size(rows) &&
           json_is_boolean(json_object_get(t, "truncated")) &&
           (!line || (json_is_integer(line) && json_integer_value(line) > 0));
}

bool report_tables_valid(const json_t *tables)
{
    size_t i;
    json_t *t;
    if (!json_is_array(tables) || json_array_size(tables) > REPORT_TABLES_MAX)
        return false;
    json_array_foreach(tables, i, t)
        if (!is_table(t))
            return false;
    return true;
}

/* ---- displays ---- */

static bool are_mime_types(json_t *data)
{
    const char *mime;
    json_t *value;
    if (!json_is_object(data) || json_object_size(data) > REPORT_MIME_TYPES_MAX)
        return false;
    json_object_foreach(data, mime, value)
        if (strlen(mime) > REPORT_NAME_MAX)
            return false;
    return true;
}

static bool is_display(json_t *d)
{
    const char *key;
    json_t *value;
    if (!are_mime_types(json_object_get(d, "data")))
        return false;
    json_object_foreach(d, key, value) {
        bool good = strcmp(key, "data") == 0 ||
                    (strcmp(key, "display_id") == 0 && is_text(value, REPORT_NAME_MAX)) ||
                    (strcmp(key, "metadata") == 0 && json_is_object(value)) ||
                    (strcmp(key, "cut") == 0 && json_is_boolean(value));
        if (!good)
            return false;
    }
    return true;
}

bool report_displays_valid(const json_t *displays)
{
    size_t i;
    json_t *d;
    if (!json_is_array(displays) || json_array_size(displays) > REPORT_DISPLAYS_MAX)
        return false;
    json_array_foreach(displays, i, d)
        if (!is_display(d))
            return false;
    return true;
}

/* ---- the file ---- */

struct report_found report_read(const char *bytes, size_t n)
{
    struct report_found found = { 0 };
    json_t *whole = n <= REPORT_MAX_BYTES
                        ? json_loadb(bytes, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL)
                        : NULL;
    json_t *tables = json_object_get(whole, "tables");
    if (tables && report_tables_valid(tables))
        found.tables = json_incref(tables);
    if (json_is_object(json_object_get(whole, "profile")))
        found.profile = json_incref(json_object_get(whole, "profile"));
    json_t *displays = json_object_get(whole, "displays");
    if (displays && report_displays_valid(displays))
        found.displays = json_incref(displays);
    const json_t *running = json_object_get(whole, "running");
    found.runs = json_is_integer(running) && json_integer_value(running) >= 0;
    found.running = found.runs ? (size_t)json_integer_value(running) : 0;
    json_decref(whole);
    return found;
}

/* Removes every file of that name. *ret gets the bytes of the first that is readable. */
static int cut(struct buf *bundle, const char *name, size_t max, struct buf *ret, struct err *e)
{
    struct bundle_entry f;
    struct err ignored;
    bool more = false;
    for (size_t pos = 0, start = 0;
         bundle_next_output(bundle, &pos, &f, &more, &ignored) == 0 && more; start = pos) {
        if (!bundle_is_named(&f, name))
            continue;
        bool readable = f.head.status == OUTPUT_OK && f.head.size <= max;
        if (readable && ret->len == 0 && buf_add(ret, f.bytes, (size_t)f.head.size, e))
            return -1;
        memmove(bundle->data + start, bundle->data + pos, bundle->len - pos);
        bundle->len -= pos - start;
        pos = start;
    }
    return 0;
}

int report_cut(struct buf *bundle, struct buf *ret, struct err *e)
{
    return cut(bundle, REPORT_FILE, REPORT_MAX_BYTES, ret, e);
}

int whereabouts_cut(struct buf *bundle, struct buf *ret, struct err *e)
{
    return cut(bundle, WHEREABOUTS_FILE, WHEREABOUTS_MAX, ret, e);
}
