#include "cli/jupyter/languages.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "run/json.h"

static const struct {
    const char *name, *shown, *version, *mime, *extension, *lexer, *editor_mode;
} rows[] = {
    { "python", "Python", "3", "text/x-python", ".py", "ipython3", "python" },
    { "javascript", "JavaScript", "", "text/javascript", ".js", "javascript", "javascript" },
    { "typescript", "TypeScript", "", "text/typescript", ".ts", "typescript", "text/typescript" },
    { "bash", "Bash", "", "text/x-sh", ".sh", "bash", "shell" },
    { "sqlite", "SQLite", "3", "text/x-sql", ".sql", "sql", "text/x-sqlite" },
    { "postgres", "PostgreSQL", "", "text/x-sql", ".sql", "postgresql", "text/x-pgsql" },
};

static size_t row_of(const struct language *l)
{
    size_t i = 0;
    while (i < ARRAY_LEN(rows) && strcmp(rows[i].name, l->name) != 0)
        i++;
    return i;
}

const char *jupyter_display_name(const struct language *l, char *out, size_t size)
{
    size_t i = row_of(l);
    (void)snprintf(out, size, "%s (Belljar)", i < ARRAY_LEN(rows) ? rows[i].shown : l->name);
    return out;
}

json_t *jupyter_language_info(const struct language *l)
{
    size_t i = row_of(l);
    const char *extension = l->extensions && l->extensions[0] ? l->extensions[0] : ".txt";
    if (i == ARRAY_LEN(rows))
        return json_pack("{s:s, s:s, s:s, s:s}", "name", l->name, "version", "", "mimetype",
                         "text/plain", "file_extension", extension);
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", l->name, "version",
                          rows[i].version, "mimetype", rows[i].mime, "file_extension",
                          rows[i].extension, "pygments_lexer", rows[i].lexer, "codemirror_mode",
                          rows[i].editor_mode);
    if (strcmp(l->name, "python") == 0)
        json_put(o, "nbconvert_exporter", json_string("python"));
    return o;
}
