/* store/run_rows_retain.c — retention: removes old runs and their files. Declared in
 * store/run_rows.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "store/audit_log.h"
#include "store/run_columns.h"

/* Files are removed one call after their rows, when the removal of the rows is committed. A row
 * without its file would be wrong; a file that a crash left behind is still listed and is removed
 * later. Removing a file twice is harmless. */
static void remove_file(const struct db *db, const char *id)
{
    char path[320];
    int n = snprintf(path, sizeof path, "output/%s", id);
    if (n > 0 && (size_t)n < sizeof path && !strchr(id, '/'))
        (void)unlinkat(db->dir_fd, path, 0);
}

/* Reads the first of the list: 1, 0 or -1. */
static int remove_doomed(struct db *db, struct err *e)
{
    autofree char *id = NULL;
    {
        scoped(query) list = { 0 };
        if (query_get(&list, db, SQL_DOOMED_LIST, e))
            return -1;
        bind_int(&list, 1);
        int found = query_step(&list, e);
        if (found <= 0)
            return found;
        id = take_text(&list);
        if (query_taken(&list, e))
            return -1;
    }
    remove_file(db, id);
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_DOOMED_DELETE, e))
        return -1;
    bind_text(&q, id);
    return query_run(&q, e) ? -1 : 1;
}

struct victim {
    int64_t seq, bytes;
    bool has_file;
};

/* Adds the id of the run to the list of removed ones. */
static int remove_row(struct db *db, int64_t seq, struct buf *ids, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_DELETE, e))
        return -1;
    bind_int(&q, seq);
    int found = query_step(&q, e);
    if (found > 0 && buf_addf(ids, e, "%s\"%s\"", ids->len ? "," : "", peek_text(&q, NULL)))
        return -1;
    return found < 0 ? -1 : query_run(&q, e);
}

static int remove_run(struct db *db, const struct victim *v, struct buf *ids, struct err *e)
{
    static const enum sql all[] = { SQL_RUN_INPUT_DELETE, SQL_RUN_OUTPUT_DELETE };
    if (v->has_file && query_run_seq(db, SQL_DOOMED_ADD, v->seq, e))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (query_run_seq(db, all[i], v->seq, e))
            return -1;
    return remove_row(db, v->seq, ids, e);
}

/* Otherwise a removed run would look like one that somebody deleted. */
static int record_removal(struct db *db, const struct buf *ids, struct err *e)
{
    scoped(buf) detail = { 0 };
    if (ids->len == 0)
        return 0;
    if (buf_addf(&detail, e, "{\"runs\":[%s]}", buf_str(ids)))
        return -1;
    const struct audit_record r = { .time_ms = clock_unix_ms(),
                                    .kind = "history.removed",
                                    .subject = "",
                                    .actor = "service",
                                    .detail = buf_str(&detail) };
    return audit_append(db, &r, e);
}

/* Selects the runs that one of the two rules removes: up to `limit`, oldest first. older_ms 0: of
 * any age. */
static int find_victims(struct db *db, int64_t older_ms, unsigned limit, struct victim *ret,
                        unsigned *ret_n, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, older_ms ? SQL_RUN_OLDER : SQL_RUN_OLDEST, e))
        return -1;
    if (older_ms)
        bind_int(&q, older_ms);
    bind_int(&q, limit);
    int found = 0;
    unsigned n = 0;
    while (n < limit && (found = query_step(&q, e)) > 0) {
        ret[n].seq = take_int(&q);
        ret[n].bytes = take_int(&q);
        ret[n++].has_file = take_int(&q) != 0;
    }
    *ret_n = n;
    return found < 0 ? -1 : 0;
}

static int history_bytes(struct db *db, int64_t *ret, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_BYTES, e) || query_step(&q, e) < 0)
        return -1;
    *ret = take_int(&q);
    return 0;
}

/* Removes the selected runs while more than `excess` bytes are left to free; INT64_MAX: all of
 * them. */
static int remove_victims(struct db *db, const struct victim *v, unsigned n, int64_t excess,
                          unsigned *ret_removed, bool *files, struct err *e)
{
    scoped(buf) ids = { 0 };
    int64_t freed = 0;
    unsigned i = 0;
    for (; i < n && freed < excess; i++) {
        if (remove_run(db, &v[i], &ids, e))
            return -1;
        freed += v[i].bytes;
        *files |= v[i].has_file;
    }
    *ret_removed += i;
    if (freed && run_bytes_add(db, -freed, e))
        return -1;
    return record_removal(db, &ids, e);
}

int runs_retain(struct db *db, int64_t now_ms, int64_t max_age_ms, int64_t max_bytes,
                unsigned batch, bool *ret_more, int64_t *ret_removed, struct err *e)
{
    autofree struct victim *victims = calloc(batch ? batch : 1, sizeof *victims);
    unsigned n = 0, removed = 0;
    int64_t bytes, older = now_ms - max_age_ms;
    bool files = false;
    int doomed = 1;
    if (!victims)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory for the list of old runs");
    for (unsigned i = 0; i < batch && doomed > 0; i++)
        doomed = remove_doomed(db, e);
    if (doomed < 0)
        return -1;
    if (max_age_ms && older > 0 &&
        (find_victims(db, older, batch, victims, &n, e) ||
         remove_victims(db, victims, n, INT64_MAX, &removed, &files, e)))
        return -1;
    if (history_bytes(db, &bytes, e))
        return -1;
    n = 0;
    if (max_bytes && bytes > max_bytes && removed < batch &&
        (find_victims(db, 0, batch - removed, victims, &n, e) ||
         remove_victims(db, victims, n, bytes - max_bytes, &removed, &files, e)))
        return -1;
    *ret_more = removed == batch || files || doomed > 0;
    *ret_removed = removed;
    return 0;
}
