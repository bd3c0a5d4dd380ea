#include "store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "store/db_query.h"

/* The pages go through a connection of their own, without a journal: nobody else knows the file. */
static int copy_pages(struct db *db, const char *path, struct err *e)
{
    sqlite3 *copy = NULL;
    int rc = sqlite3_open_v2(path, &copy, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE, NULL);
    (void)unlink(path); /* SQLite has opened it */
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(copy, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;", NULL, NULL,
                          NULL);
    sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(copy, "main", db->sqlite, "main")
                                        : NULL;
    if (b) {
        (void)sqlite3_backup_step(b, -1);
        rc = sqlite3_backup_finish(b);
    } else if (rc == SQLITE_OK) {
        rc = sqlite3_errcode(copy);
    }
    int failed = 0;
    if (rc != SQLITE_OK)
        failed = err_set(e, ERR_KERNEL, 0, "copy %s: %s (its directory needs room for the copy)",
                         db->path, sqlite3_errstr(rc));
    (void)sqlite3_close(copy);
    return failed;
}

int db_copy(struct db *db, int to_fd, struct err *e)
{
    autofree char *path = NULL;
    int64_t tables;
    if (asprintf(&path, "%s-copy-XXXXXX", db->path) < 0) {
        path = NULL;
        return err_no_memory(e, "a copy of the database");
    }
    /* The first statement that reads decides which state the transaction sees. */
    if (sql_number(db, "SELECT count(*) FROM sqlite_schema", &tables, e))
        return -1;
    autoclose int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make a file beside %s", db->path);
    if (copy_pages(db, path, e))
        return -1;
    if (fd_copy(fd, to_fd) || fsync(to_fd) < 0)
        return err_set(e, ERR_KERNEL, errno, "write the copy of %s", db->path);
    return 0;
}

/* An interrupted run has a file if it printed much before its end. */
static const char files[] = "SELECT 'output', id, NOT journal_in_file FROM runs"
                            "  WHERE journal_in_file OR state = 'interrupted'"
                            " UNION ALL SELECT 'images', id, 0 FROM images";

int db_each_file(struct db *db, db_file_each *each, void *context, struct err *e)
{
    scoped(query) q = { 0 };
    int found;
    if (query_prepare(&q, db, files, e))
        return -1;
    while ((found = query_step(&q, e)) > 0) {
        autofree char *dir = take_text(&q), *name = take_text(&q);
        bool optional = take_int(&q) != 0;
        if (query_taken(&q, e))
            return -1;
        if (!name || name[0] == '.' || strchr(name, '/'))
            return err_set(e, ERR_CONFLICT, 0, "a row of %s has the id '%.64s', which no file has",
                           db->path, name ? name : "");
        if (each(context, dir, name, optional, e))
            return -1;
    }
    return found;
}

int db_check(struct db *db, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_prepare(&q, db, "PRAGMA integrity_check(1)", e) || query_step(&q, e) < 0)
        return -1;
    const char *said = peek_text(&q, NULL);
    return strcmp(said, "ok") == 0
               ? 0
               : err_set(e, ERR_CONFLICT, 0, "%s is damaged: %.200s", db->path, said);
}
