#include "api/sessions/notebook.h"

#include <string.h>

#include "run/json.h"

static json_t *stream_output(const char *name, const json_t *text)
{
    return json_pack("{s:s, s:s, s:O}", "output_type", "stream", "name", name, "text", text);
}

static json_t *or_empty(json_t *object)
{
    return json_is_object(object) ? json_incref(object) : json_object();
}

static void add_streams(json_t *outputs, const json_t *cell)
{
    static const char *const names[] = { "stdout", "stderr" };
    for (int i = 0; i < 2; i++) {
        const json_t *text = json_object_get(cell, names[i]);
        if (json_string_length(text) > 0)
            (void)json_array_append_new(outputs, stream_output(names[i], text));
    }
}

static void add_displays(json_t *outputs, const json_t *cell)
{
    size_t i;
    const json_t *display;
    json_array_foreach(json_object_get(cell, "displays"), i, display)
        (void)json_array_append_new(
            outputs, json_pack("{s:s, s:o, s:o}", "output_type", "display_data", "data",
                               or_empty(json_object_get(display, "data")), "metadata",
                               or_empty(json_object_get(display, "metadata"))));
}

/* The lines of a text as a list, as in Jupyter's tracebacks. */
static json_t *lines_of(const char *text)
{
    json_t *list = json_array();
    while (text && *text) {
        size_t n = strcspn(text, "\n");
        (void)json_array_append_new(list, json_stringn(text, n));
        text += n + (text[n] == '\n');
    }
    return list;
}

static void add_end(json_t *outputs, const json_t *cell)
{
    json_t *result = json_object_get(cell, "result"), *error = json_object_get(cell, "error");
    if (json_is_object(result))
        (void)json_array_append_new(outputs, json_pack("{s:s, s:O, s:O, s:{}}", "output_type",
                                                       "execute_result", "execution_count",
                                                       json_object_get(cell, "execution_count"),
                                                       "data", result, "metadata"));
    if (json_is_object(error))
        (void)json_array_append_new(
            outputs, json_pack("{s:s, s:O, s:O, s:o}", "output_type", "error", "ename",
                               json_object_get(error, "name"), "evalue",
                               json_object_get(error, "message"), "traceback",
                               lines_of(json_string_value(json_object_get(error, "traceback")))));
}

static json_int_t number_of(const json_t *cell)
{
    return json_integer_value(json_object_get(cell, "cell"));
}

/* Tools such as nbconvert leave out cells by a tag. */
static json_t *metadata_of_cell(const json_t *cell)
{
    json_t *by = json_object_get(cell, "rolled_back_by");
    if (!by)
        return json_object();
    return json_pack("{s:[s], s:{s:O}}", "tags", "rolled-back", "belljar", "rolled_back_by", by);
}

static json_t *code_cell(const json_t *cell)
{
    json_t *outputs = json_array();
    add_streams(outputs, cell);
    add_displays(outputs, cell);
    add_end(outputs, cell);
    json_t *code = json_object_get(cell, "code");
    return json_pack("{s:s, s:o, s:O, s:o, s:o, s:o}", "cell_type", "code", "id",
                     json_sprintf("cell-%lld", (long long)number_of(cell)), "execution_count",
                     json_object_get(cell, "execution_count"), "source",
                     json_is_string(code) ? json_incref(code) : json_string(""), "metadata",
                     metadata_of_cell(cell), "outputs", outputs);
}

/* The language as Jupyter names it, and the kernel that opens it there. */
static json_t *metadata_of(const char *language)
{
    static const struct {
        const char *language, *kernel, *shown, *extension, *mime;
    } rows[] = {
        { "python", "python3", "Python 3", ".py", "text/x-python" },
        { "javascript", "javascript", "JavaScript", ".js", "text/javascript" },
        { "typescript", "typescript", "TypeScript", ".ts", "text/typescript" },
        { "bash", "bash", "Bash", ".sh", "text/x-sh" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].language, language) == 0)
            return json_pack("{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}}", "kernelspec", "name",
                             rows[i].kernel, "display_name", rows[i].shown, "language", language,
                             "language_info", "name", language, "file_extension", rows[i].extension,
                             "mimetype", rows[i].mime);
    return json_pack("{s:{s:s, s:s, s:s}, s:{s:s}}", "kernelspec", "name", language, "display_name",
                     language, "language", language, "language_info", "name", language);
}

/* The place of the cells that are not here. */
static json_t *missing_cell(json_int_t n)
{
    return json_pack("{s:s, s:s, s:{}, s:o}", "cell_type", "markdown", "id", "missing-cells",
                     "metadata", "source",
                     json_sprintf("*The first %lld cells of the session are missing here: a "
                                  "notebook has the newest %d cells of together %d MiB, and the "
                                  "history of the service keeps cells for a while.*",
                                  (long long)n, NOTEBOOK_CELLS_MAX, NOTEBOOK_MIB_MAX));
}

json_t *notebook_json(const char *language, const json_t *cells)
{
    json_t *list = json_array();
    json_t *metadata = metadata_of(language);
    json_int_t first = number_of(json_array_get(cells, 0));
    size_t i;
    const json_t *cell;
    if (first > 1) {
        (void)json_array_append_new(list, missing_cell(first - 1));
        json_put(metadata, "belljar", json_pack("{s:I}", "missing_cells", first - 1));
    }
    json_array_foreach(cells, i, cell)
        (void)json_array_append_new(list, code_cell(cell));
    return json_pack("{s:i, s:i, s:o, s:o}", "nbformat", 4, "nbformat_minor", 5, "metadata",
                     metadata, "cells", list);
}
