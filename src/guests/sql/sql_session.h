/* guests/sql/sql_session.h — a session of SQL: cells from a channel, tables as bundles. Runs in: a
 * jar.
 *
 * Each table of a cell is drawn as text, HTML, CSV and JSON at once, and is bounded in each. The
 * last table of a cell is its result, earlier ones are displays. */
#pragma once

#include <stdbool.h>

#include "guests/session/images.h"
#include "guests/sql/cell.h"
#include "guests/sql/where.h"

struct sql_tables; /* the tables of a cell; see shell.tables */

struct sql_session_ops {
    /* Runs a cell. -1 after an error, which was printed to stderr and told to sql_session_error. */
    int (*run)(void *context, const struct script *cell);
    /* Calls offer() for each table, view and column: their names and types. */
    void (*names)(void *context, void (*offer)(void *to, const char *name, const char *type),
                  void *to);
    /* Calls add() with a text about each table, view, column and function of that name. */
    void (*describe)(void *context, const char *name, void (*add)(void *to, const char *text),
                     void *to);
    /* Ends the running statement. Safe in a signal handler, and called again and again until run()
     * has returned. */
    void (*interrupt)(void *context);
    /* Their context is images_context; NULL: the channel. */
    const struct image_ops *images;
    void *images_context;
};

/* Opens the channel. NULL with a message on stderr if there is none. */
struct sql_tables *sql_session_open(void);
struct channel *sql_session_channel(struct sql_tables *t);
/* Handles requests until the session ends. Returns the exit status. */
int sql_session_run(struct sql_tables *t, const struct sql_session_ops *ops, void *context);

/* True from the interrupt of a cell to the begin of the next one: no further statement may begin. */
bool sql_session_is_interrupted(void);

/* For the program while a cell runs. Name and message are copied. */
void sql_session_error(struct sql_tables *t, const char *name, const char *message);
/* stderr collects the words of an error. Between these two it is the real one, for notices. */
void sql_session_notice_begin(struct sql_tables *t);
void sql_session_notice_end(struct sql_tables *t);

[[nodiscard]] int sql_table_begin(struct sql_tables *t, const struct column *columns, size_t n,
                                  struct err *e);
[[nodiscard]] int sql_table_row(struct sql_tables *t, const struct cell *cells, size_t n,
                                struct err *e);
/* Types are known only now. */
[[nodiscard]] int sql_table_end(struct sql_tables *t, const struct column *columns, size_t n,
                                struct err *e);
