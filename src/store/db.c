#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "store/db_query.h"

enum { BUSY_TIMEOUT_MS = 5000 };

/* For every connection. No mmap: if the file is truncated, an access would kill the process. */
static const char session[] = "PRAGMA synchronous = NORMAL;"
                              "PRAGMA foreign_keys = ON;"
                              "PRAGMA trusted_schema = OFF;"
                              "PRAGMA cell_size_check = ON;"
                              "PRAGMA mmap_size = 0;"
                              "PRAGMA temp_store = MEMORY;"
                              "PRAGMA journal_size_limit = 67108864;";

static const char *const session_of[] = {
    /* Checkpoints every 16 MiB: fewer checkpoints rewrite the same index pages less often. */
    [DB_WRITE] = "PRAGMA cache_size = -6144; PRAGMA wal_autocheckpoint = 2000;",
    [DB_READ] = "PRAGMA cache_size = -2048;",
};

/* Creates the file before SQLite does, so that no other user can ever read it. O_EXCL: this process
 * must not open a database that it already uses, because closing that descriptor would drop all of
 * its locks. */
static int make_files(const struct db *db, struct err *e)
{
    if (mkdirat(db->dir_fd, "output", 0700) < 0 && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno, "make the directory 'output' beside %s", db->path);
    autoclose int fd = openat(db->dir_fd, "belljar.db", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                              0600);
    if (fd < 0 && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno, "make %s", db->path);
    return 0;
}

static int open_dir(struct db *db, const char *dir, struct err *e)
{
    if (db->mode == DB_WRITE && mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno, "make the directory %s", dir);
    db->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (db->dir_fd < 0 && errno == ENOENT)
        return err_set(e, ERR_NOT_FOUND, 0,
                       "directory %s does not exist: 'belljar serve' creates it", dir);
    if (db->dir_fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open the directory %s", dir);
    struct stat st;
    if (db->mode == DB_READ && fstatat(db->dir_fd, "belljar.db", &st, 0) < 0 && errno == ENOENT)
        return err_set(e, ERR_NOT_FOUND, 0, "%s does not exist: 'belljar serve' creates it",
                       db->path);
    return db->mode == DB_WRITE ? make_files(db, e) : 0;
}

static int open_sqlite(struct db *db, struct err *e)
{
    int flags = SQLITE_OPEN_NOMUTEX |
                (db->mode == DB_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    /* The rollback data of a statement stays in memory, because the service may have no directory
     * for temporary files. SQLite refuses this call once it is in use; then an earlier call has
     * made the setting. */
    (void)sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
    int rc = sqlite3_open_v2(db->path, &db->sqlite, flags, NULL);
    if (rc != SQLITE_OK)
        return db->sqlite ? sql_fail(db, rc, "open", e)
                          : err_set(e, ERR_NO_MEMORY, 0, "open %s: out of memory", db->path);
    (void)sqlite3_extended_result_codes(db->sqlite, 1);
    (void)sqlite3_busy_timeout(db->sqlite, BUSY_TIMEOUT_MS);
    /* Only our own schema is trusted: a schema in the file may not call functions or overwrite
     * anything but tables. */
    (void)sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    (void)sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    if (sql_script(db, session, e) || sql_script(db, session_of[db->mode], e))
        return -1;
    return 0;
}

int db_open(struct db **ret, const char *dir, enum db_mode mode, struct err *e)
{
    struct db *db = calloc(1, sizeof *db);
    if (!db)
        return err_set(e, ERR_NO_MEMORY, 0, "open the database: out of memory");
    *db = (struct db){ .mode = mode, .dir_fd = -1 };
    if (asprintf(&db->path, "%s/belljar.db", dir) < 0) {
        db->path = NULL;
        (void)err_set(e, ERR_NO_MEMORY, 0, "open the database: out of memory");
        goto fail;
    }
    if (open_dir(db, dir, e) || open_sqlite(db, e) || schema_check(db, e))
        goto fail;
    if (mode == DB_WRITE && schema_update(db, e))
        goto fail;
    *ret = db;
    return 0;
fail:
    db_close(db);
    return -1;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    for (int i = 0; i < SQL_COUNT_; i++)
        (void)sqlite3_finalize(db->kept[i]);
    (void)sqlite3_close(db->sqlite);
    fd_close(&db->dir_fd);
    free(db->path);
    free(db);
}

int db_probe(struct db *db, int64_t now_ms, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_PROBE, e))
        return -1;
    bind_int(&q, now_ms);
    return query_run(&q, e);
}
