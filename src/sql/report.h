/* sql/report.h — results as data, for whoever asked for the run: a file that run/reports.h reads. Runs in: a jar.
 * Invariants: the file is whole JSON after every result, so that a run that is ended has left what it had; it is never larger
 * than SQL_REPORT_BYTES and a little. What does not fit is left out, and "truncated" says so. */
#pragma once

#include <stdint.h>

#include "sql/cell.h"

#define SQL_REPORT_FILE ".belljar-report.json"
enum {
    SQL_REPORT_TABLES = 100,
    SQL_REPORT_ROWS = 1000, /* of one result */
    SQL_REPORT_COLUMNS = 1000,
    SQL_REPORT_BYTES = 1 << 20, /* of all rows of all results */
};

struct sql_report {
    int fd;      /* -1: there is none */
    long at;     /* where the next result goes */
    size_t left; /* bytes for rows */
    unsigned tables;
    /* of the result that is being taken */
    struct buf rows;
    uint64_t taken, seen;
};

/* Without a file, results are only printed. */
void sql_report_open(struct sql_report *r);
void sql_report_done(struct sql_report *r);

void sql_report_row(struct sql_report *r, const struct cell *cells, size_t n);
/* Ends a result; line: of the script, where its statement begins. */
void sql_report_end(struct sql_report *r, const struct column *columns, size_t n, size_t line);
/* Forgets the rows of a result that came to no end. */
void sql_report_drop(struct sql_report *r);
