#include "guests/sql/sql_report.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"

static const char head[] = "{\"tables\":[", tail[] = "]}\n";

void sql_report_open(struct sql_report *r)
{
    *r = (struct sql_report){ .left = SQL_REPORT_BYTES, .at = sizeof head - 1 };
    (void)unlink(SQL_REPORT_FILE);
    r->fd = open(SQL_REPORT_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (r->fd >= 0 &&
        (fd_write_all(r->fd, head, sizeof head - 1) || fd_write_all(r->fd, tail, sizeof tail - 1)))
        fd_close(&r->fd);
}

/* Always of the same length, so that each one covers the one before it. */
void sql_report_running(struct sql_report *r, size_t offset)
{
    char text[64];
    int n = snprintf(text, sizeof text, "],\"running\":%12zu}\n", offset);
    if (r->fd >= 0 && n > 0 && pwrite(r->fd, text, (size_t)n, r->at) != n)
        fd_close(&r->fd); /* a full disk: the report is not complete, and nobody reads it */
}

void sql_report_drop(struct sql_report *r)
{
    buf_done(&r->rows);
    r->kept = r->seen = 0;
}

void sql_report_done(struct sql_report *r)
{
    sql_report_drop(r);
    fd_close(&r->fd);
}

void sql_report_row(struct sql_report *r, const struct cell *cells, size_t n)
{
    struct err e;
    size_t before = r->rows.len;
    r->seen++;
    if (r->fd < 0 || r->kept + 1 < r->seen || r->kept == SQL_REPORT_ROWS ||
        r->tables == SQL_REPORT_TABLES || n > SQL_REPORT_COLUMNS)
        return;
    int failed = buf_addf(&r->rows, &e, "%s[", r->kept > 0 ? "," : "");
    for (size_t i = 0; i < n && !failed; i++) {
        failed = buf_addf(&r->rows, &e, "%s", i > 0 ? "," : "") || cells[i].n > r->left ||
                 cell_add_json(&r->rows, &cells[i], &e) || r->rows.len > r->left;
    }
    if (failed || buf_add(&r->rows, "]", 1, &e) || r->rows.len > r->left) {
        r->rows.len = before;
        return;
    }
    r->kept++;
}

/* A column without a name gets its whole expression as its name. */
static int add_name(struct buf *b, const char *text, struct err *e)
{
    enum { NAME_MAX_BYTES = 200 };
    size_t n = strnlen(text, NAME_MAX_BYTES + 1);
    return cell_add_json_text(b, text, n > NAME_MAX_BYTES ? text_whole(text, NAME_MAX_BYTES) : n,
                              e);
}

static int add_columns(struct buf *b, const struct column *columns, size_t n, struct err *e)
{
    if (buf_addf(b, e, "{\"columns\":["))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (buf_addf(b, e, "%s{\"name\":", i > 0 ? "," : "") || add_name(b, columns[i].name, e) ||
            buf_addf(b, e, ",\"type\":") || add_name(b, columns[i].type, e) || buf_addf(b, e, "}"))
            return -1;
    return 0;
}

void sql_report_end(struct sql_report *r, const struct column *columns, size_t n, size_t line)
{
    scoped(buf) b = { 0 };
    struct err e;
    bool fits = r->fd >= 0 && r->tables < SQL_REPORT_TABLES && n <= SQL_REPORT_COLUMNS;
    if (!fits || buf_addf(&b, &e, "%s", r->tables > 0 ? "," : "") ||
        add_columns(&b, columns, n, &e) || buf_addf(&b, &e, "],\"rows\":[") ||
        buf_add(&b, buf_str(&r->rows), r->rows.len, &e) ||
        buf_addf(&b, &e, "],\"row_count\":%" PRIu64 ",\"truncated\":%s,\"line\":%zu}", r->seen,
                 r->kept < r->seen ? "true" : "false", line) ||
        buf_add(&b, tail, sizeof tail - 1, &e)) {
        sql_report_drop(r);
        return;
    }
    if (pwrite(r->fd, b.data, b.len, r->at) == (ssize_t)b.len) {
        r->at += (long)(b.len - (sizeof tail - 1));
        r->left -= r->rows.len < r->left ? r->rows.len : r->left;
        r->tables++;
    } else { /* a full disk: the previous content stays valid */
        (void)!pwrite(r->fd, tail, sizeof tail - 1, r->at);
        (void)!ftruncate(r->fd, r->at + (long)sizeof tail - 1);
    }
    sql_report_drop(r);
}
