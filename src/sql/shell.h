/* sql/shell.h — what both programs are: a script, arguments, a place for results. Runs in: a jar. */
#pragma once

#include <stdbool.h>

#include "sql/fixtures.h"
#include "sql/render.h"
#include "sql/report.h"

/* PROGRAM --format FORMAT FILE [--db NAME] [--] [VALUE …] */
struct shell {
    enum table_format format;
    const char *database; /* NULL: none was named */
    char **values;        /* of parameters ?1, $1 and so on */
    size_t n_values;
    struct buf text;
    struct script script;
    struct render *render;
    struct sql_report report;
    bool disk_full; /* the disk was what ended the script */
};

/* Reads the arguments and the script. -1 with words on stderr. */
[[nodiscard]] int shell_open(struct shell *s, int argc, char **argv);
/* Closes everything; the exit status, which is 1 when the output could not be written. Where the disk was full, it is
 * so again: a full disk is the only trace that can be seen from outside, and a database removes what it could not finish. */
int shell_close(struct shell *s, int status);

/* Rows are gathered by columns; the shell prints and reports them. */
[[nodiscard]] int shell_row(struct shell *s, const struct cell *cells, size_t n, struct err *e);
[[nodiscard]] int shell_result_end(struct shell *s, const struct column *columns, size_t n,
                                   size_t line, struct err *e);
