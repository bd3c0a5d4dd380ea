/* tests/unit/lib/database.h — a database in a directory of its own, and a look at it past the
 * store. */
#pragma once

#include <sqlite3.h>

#include "place.h"
#include "store/db.h"

/* Rows to be inserted are made of literals here; the store only reads them. */
#pragma GCC diagnostic ignored "-Wdiscarded-qualifiers"

struct database {
    struct place place;
    struct db *db;
};

#define OK(call)           CHECK_OK((call), &e)
#define CHECK_OK(call, e_) (CHECK_INT((call), 0) || (printf("    %s\n", (e_)->text), false))

[[maybe_unused]] static bool database_init(struct database *d)
{
    struct err e = { 0 };
    *d = (struct database){ 0 };
    return place_init(&d->place) && OK(db_open(&d->db, d->place.path, DB_WRITE, &e));
}

[[maybe_unused]] static void database_done(struct database *d)
{
    db_close(d->db);
    place_done(&d->place);
}

/* As someone who has the file and SQLite, but not us. */
[[maybe_unused]] static bool meddle(const struct place *p, const char *sql)
{
    char path[300];
    char *problem = NULL;
    sqlite3 *raw = NULL;
    (void)snprintf(path, sizeof path, "%s/belljar.db", p->path);
    bool done = sqlite3_open(path, &raw) == SQLITE_OK &&
                sqlite3_exec(raw, sql, NULL, NULL, &problem) == SQLITE_OK;
    if (problem)
        printf("    %s\n", problem);
    sqlite3_free(problem);
    sqlite3_close(raw);
    return CHECK(done);
}
