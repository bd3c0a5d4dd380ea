/* sql/fixtures.h — what is put into a database before the script runs: the files of fixtures/, in the order of their names.
 * NAME.sql is executed; NAME.csv becomes a table of that name, or rows of it where it is there already. Runs in: a jar. */
#pragma once

#include "base/buf.h"
#include "sql/csv.h"
#include "sql/where.h"

#define FIXTURES_DIR "fixtures"

struct fixture_table {
    const char *file; /* for messages */
    const char
        *table; /* a leading number with - or _ is for the order alone: 01_users.csv is users */
    const char *bytes; /* the CSV */
    size_t n;
    size_t n_columns;
    char **names;
    enum csv_type *types; /* CSV_NOTHING never: a column without values is text */
};
/* The rows, from the first after the names; ragged ones are refused with words on stderr. As csv_next(). */
[[nodiscard]] int fixture_rows(const struct fixture_table *t, struct csv *c);
[[nodiscard]] int fixture_next(const struct fixture_table *t, struct csv *c);

/* Both print what is wrong on stderr and return -1 then. */
struct fixture_ops {
    int (*script)(void *context, const struct script *s);
    int (*table)(void *context, const struct fixture_table *t);
};
[[nodiscard]] int fixtures_load(const struct fixture_ops *ops, void *context);

/* An identifier in quotes. */
[[nodiscard]] int fixture_add_name(struct buf *b, const char *name, struct err *e);
/* The statement that makes the table where there is none; what the types are called is the database's. */
[[nodiscard]] int fixture_add_create(struct buf *b, const struct fixture_table *t,
                                     const char *const types[CSV_TYPE_COUNT_], struct err *e);
/* "(name, name)" */
[[nodiscard]] int fixture_add_names(struct buf *b, const struct fixture_table *t, struct err *e);
