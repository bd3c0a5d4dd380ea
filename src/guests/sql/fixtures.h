/* guests/sql/fixtures.h — the files of fixtures/, loaded into the database in the order of their
 * names before the script runs. NAME.sql is executed; NAME.csv becomes a table of that name, or
 * adds rows to it. Runs in: a jar. */
#pragma once

#include "base/buf.h"
#include "guests/sql/csv.h"
#include "guests/sql/where.h"

#define FIXTURES_DIR "fixtures"

struct fixture_table {
    const char *file;  /* for messages */
    const char *table; /* a leading number with - or _ only sets the order: 01_users.csv is users */
    const char *bytes; /* the CSV */
    size_t n;
    size_t n_columns;
    char **names;
    enum csv_type *types; /* never CSV_NOTHING: a column without values is text */
};
/* The next row after the header, as csv_next(). Prints an error for rows with too few or too many
 * fields. */
[[nodiscard]] int fixture_rows(const struct fixture_table *t, struct csv *c);
[[nodiscard]] int fixture_next(const struct fixture_table *t, struct csv *c);

/* On failure both print the reason on stderr and return -1. */
struct fixture_ops {
    int (*script)(void *context, const struct script *s);
    int (*table)(void *context, const struct fixture_table *t);
};
[[nodiscard]] int fixtures_load(const struct fixture_ops *ops, void *context);

/* An identifier in quotes. */
[[nodiscard]] int fixture_add_name(struct buf *b, const char *name, struct err *e);
/* The statement that creates a missing table; the database supplies the names of the types. */
[[nodiscard]] int fixture_add_create(struct buf *b, const struct fixture_table *t,
                                     const char *const types[CSV_TYPE_COUNT_], struct err *e);
/* "(name, name)" */
[[nodiscard]] int fixture_add_names(struct buf *b, const struct fixture_table *t, struct err *e);
