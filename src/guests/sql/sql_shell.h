/* guests/sql/sql_shell.h — shared by both programs: arguments, script, output of results. Runs in: a
 * jar. */
#pragma once

#include <stdbool.h>

#include "guests/sql/fixtures.h"
#include "guests/sql/render.h"
#include "guests/sql/sql_report.h"
#include "guests/sql/sql_session.h"

/* PROGRAM --format FORMAT FILE [--db NAME] [--] [VALUE …]
 * PROGRAM --session [--db NAME] [--] [VALUE …] */
struct shell {
    enum table_format format;
    const char *database; /* NULL: not named */
    char **values;        /* for the parameters ?1, $1 and so on */
    size_t n_values;
    struct buf text;
    struct script script;
    struct render *render;
    struct sql_report report;
    struct sql_tables *tables; /* of a session; NULL: a script runs */
    bool disk_full;            /* a full disk ended the script */
};

/* Reads the arguments and the script. -1 with a message on stderr. */
[[nodiscard]] int shell_open(struct shell *s, int argc, char **argv);
/* The same for a session: opens its channel. */
[[nodiscard]] int shell_open_session(struct shell *s, int argc, char **argv);
bool shell_is_session(int argc, char **argv);
/* Closes everything and returns the exit status: 1 if the output could not be written. If the disk
 * was full, it is filled again: a full disk is the only trace visible from outside, and a database
 * removes its unfinished files. */
int shell_close(struct shell *s, int status);

/* A result is begin, rows, end, or drop after an error. It is printed and reported, or collected for
 * a session. */
/* A statement of the script begins at this byte of it. */
void shell_statement(struct shell *s, size_t offset);
[[nodiscard]] int shell_result_begin(struct shell *s, const struct column *columns, size_t n,
                                     struct err *e);
void shell_result_drop(struct shell *s);
[[nodiscard]] int shell_row(struct shell *s, const struct cell *cells, size_t n, struct err *e);
[[nodiscard]] int shell_result_end(struct shell *s, const struct column *columns, size_t n,
                                   size_t line, struct err *e);
