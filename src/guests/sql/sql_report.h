/* guests/sql/sql_report.h — results as data: a file that run/reports.h reads. Runs in: a jar.
 *
 * Invariants: the file is complete JSON after every result, so that an aborted run leaves its
 * earlier results. It is never much larger than SQL_REPORT_BYTES. Rows that do not fit are left
 * out, and "truncated" says so. */
#pragma once

#include <stdint.h>

#include "guests/sql/cell.h"

#define SQL_REPORT_FILE ".belljar-report.json"
enum {
    SQL_REPORT_TABLES = 100,
    SQL_REPORT_ROWS = 1000, /* of one result */
    SQL_REPORT_COLUMNS = 1000,
    SQL_REPORT_BYTES = 1 << 20, /* of all rows of all results */
};

struct sql_report {
    int fd;      /* -1: none */
    long at;     /* position of the next result */
    size_t left; /* bytes left for rows */
    unsigned tables;
    /* of the current result: */
    struct buf rows;
    uint64_t kept, seen;
};

/* Without a file, results are only printed. */
void sql_report_open(struct sql_report *r);
void sql_report_done(struct sql_report *r);

void sql_report_row(struct sql_report *r, const struct cell *cells, size_t n);
/* Ends a result. line: the line of the script in which its statement begins. */
void sql_report_end(struct sql_report *r, const struct column *columns, size_t n, size_t line);
/* A statement begins at this byte of the script. A run that is stopped leaves it in the report. */
void sql_report_running(struct sql_report *r, size_t offset);
/* Drops the rows of an unfinished result. */
void sql_report_drop(struct sql_report *r);
