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
    char *key; /* NULL: none */
};
struct victims {
    struct victim *rows;
    unsigned n;
};

static void victims_done(struct victims *v)
{
    for (unsigned i = 0; i < v->n; i++)
        free(v->rows[i].key);
    free(v->rows);
    *v = (struct victims){ 0 };
}

/* Adds the id of the run to the list of removed ones. */
/* The ids of removed rows, as the inside of a JSON array. */
struct removed_ids {
    struct buf runs, approvals;
};

static void removed_ids_done(struct removed_ids *r)
{
    buf_done(&r->runs);
    buf_done(&r->approvals);
}

/* Runs a statement that deletes rows and returns their ids. */
static int delete_rows(struct db *db, enum sql id, int64_t seq, struct buf *ids, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, id, e))
        return -1;
    bind_int(&q, seq);
    int found;
    while ((found = query_step(&q, e)) > 0)
        if (buf_addf(ids, e, "%s\"%s\"", ids->len ? "," : "", peek_text(&q, NULL)))
            return -1;
    return found;
}

/* The decided approvals of a run go with it. */
static int remove_run(struct db *db, const struct victim *v, struct removed_ids *ids, struct err *e)
{
    static const enum sql all[] = { SQL_RUN_INPUT_DELETE, SQL_RUN_OUTPUT_DELETE };
    if (v->has_file && query_run_seq(db, SQL_DOOMED_ADD, v->seq, e))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (query_run_seq(db, all[i], v->seq, e))
            return -1;
    return delete_rows(db, SQL_APPROVALS_OF_RUN_DELETE, v->seq, &ids->approvals, e) ||
                   delete_rows(db, SQL_RUN_DELETE, v->seq, &ids->runs, e)
               ? -1
               : 0;
}

/* Otherwise a removed row would look like one that somebody deleted. */
static int record_one(struct db *db, const char *kind, const char *noun, const struct buf *ids,
                      struct err *e)
{
    scoped(buf) detail = { 0 };
    if (ids->len == 0)
        return 0;
    if (buf_addf(&detail, e, "{\"%s\":[%s]}", noun, buf_str(ids)))
        return -1;
    const struct audit_record r = { .time_ms = clock_unix_ms(),
                                    .kind = kind,
                                    .subject = "",
                                    .actor = "service",
                                    .detail = buf_str(&detail) };
    return audit_append(db, &r, e);
}

static int record_removal(struct db *db, const struct removed_ids *ids, struct err *e)
{
    return record_one(db, "history.removed", "runs", &ids->runs, e) ||
                   record_one(db, "approvals.removed", "approvals", &ids->approvals, e)
               ? -1
               : 0;
}

/* The rules by which runs are selected, oldest first. */
enum rule { RULE_OLDER, RULE_OF_OWNER, RULE_ANY };

static int find_victims(struct db *db, enum rule rule, int64_t older_ms, const char *owner,
                        unsigned limit, struct victims *ret, struct err *e)
{
    static const enum sql statements[] = { SQL_RUN_OLDER, SQL_RUN_OLDEST_OF_KEY, SQL_RUN_OLDEST };
    bool keyless = rule == RULE_OF_OWNER && owner[0] == '\0';
    scoped(victims) v = { .rows = calloc(limit ? limit : 1, sizeof *v.rows) };
    scoped(query) q = { 0 };
    if (!v.rows)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory for the list of old runs");
    if (query_get(&q, db, keyless ? SQL_RUN_OLDEST_WITHOUT_KEY : statements[rule], e))
        return -1;
    if (rule == RULE_OLDER)
        bind_int(&q, older_ms);
    if (rule == RULE_OF_OWNER && !keyless)
        bind_text(&q, owner);
    bind_int(&q, limit);
    int found = 0;
    while (v.n < limit && (found = query_step(&q, e)) > 0) {
        struct victim *row = &v.rows[v.n++];
        row->seq = take_int(&q);
        row->bytes = take_int(&q);
        row->has_file = take_int(&q) != 0;
        row->key = take_text(&q);
        if (query_taken(&q, e))
            return -1;
    }
    if (found < 0)
        return -1;
    victims_done(ret);
    sql_move(ret, &v, sizeof v);
    return 0;
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
static int remove_victims(struct db *db, const struct victims *v, int64_t excess, int64_t *freed,
                          unsigned *removed, bool *files, struct err *e)
{
    scoped(removed_ids) ids = { 0 };
    int64_t gone = 0;
    for (unsigned i = 0; i < v->n && gone < excess; i++) {
        const struct victim *row = &v->rows[i];
        if (remove_run(db, row, &ids, e) || run_bytes_add(db, row->key, -row->bytes, e))
            return -1;
        gone += row->bytes;
        *files |= row->has_file;
        ++*removed;
    }
    *freed += gone;
    return record_removal(db, &ids, e);
}

/* The key whose history is the largest, and by how much it is larger than the next one. */
static int largest_owner(struct db *db, char **ret_owner, int64_t *ret_ahead, struct err *e)
{
    autofree char *owner = NULL;
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RUN_LARGEST_OWNERS, e))
        return -1;
    int found = query_step(&q, e);
    if (found <= 0)
        return found < 0 ? -1 : err_set(e, ERR_KERNEL, 0, "the history has bytes of nobody");
    owner = take_text(&q);
    int64_t first = take_int(&q), second = 0;
    if (query_taken(&q, e) || (found = query_step(&q, e)) < 0)
        return -1;
    if (found > 0) {
        free(take_text(&q));
        second = take_int(&q);
    }
    *ret_owner = owner;
    owner = NULL;
    *ret_ahead = first - second;
    return 0;
}

/* Runs of the key with the largest history go first, until it is no larger than the next one. So a
 * key that fills the history loses its own runs: one with less than its share of the bytes loses
 * none. */
static int shrink(struct db *db, int64_t excess, unsigned batch, int64_t *freed, unsigned *removed,
                  bool *files, struct err *e)
{
    while (*freed < excess && *removed < batch) {
        autofree char *owner = NULL;
        scoped(victims) v = { 0 };
        int64_t ahead = 0, before = *freed;
        if (largest_owner(db, &owner, &ahead, e) ||
            find_victims(db, RULE_OF_OWNER, 0, owner, batch - *removed, &v, e))
            return -1;
        bool all_run = v.n == 0; /* all of its runs still run: others have to go */
        if (all_run && find_victims(db, RULE_ANY, 0, NULL, batch - *removed, &v, e))
            return -1;
        int64_t left = excess - *freed, most = ahead > 0 ? ahead : 1;
        if (remove_victims(db, &v, all_run || left < most ? left : most, freed, removed, files, e))
            return -1;
        if (*freed == before)
            return 0;
    }
    return 0;
}

int runs_retain(struct db *db, int64_t now_ms, int64_t max_age_ms, int64_t max_bytes,
                unsigned batch, bool *ret_more, int64_t *ret_removed, struct err *e)
{
    scoped(victims) old = { 0 };
    unsigned removed = 0;
    int64_t bytes, freed = 0, older = now_ms - max_age_ms;
    bool files = false;
    int doomed = 1;
    for (unsigned i = 0; i < batch && doomed > 0; i++)
        doomed = remove_doomed(db, e);
    if (doomed < 0)
        return -1;
    if (max_age_ms && older > 0 &&
        (find_victims(db, RULE_OLDER, older, NULL, batch, &old, e) ||
         remove_victims(db, &old, INT64_MAX, &freed, &removed, &files, e)))
        return -1;
    freed = 0;
    if (history_bytes(db, &bytes, e) ||
        (max_bytes && bytes > max_bytes &&
         shrink(db, bytes - max_bytes, batch, &freed, &removed, &files, e)))
        return -1;
    /* A key that was removed has no rows any more after its last run. */
    if (removed > 0 && query_run_seq(db, SQL_RUN_OWNERS_EMPTY, 0, e))
        return -1;
    *ret_more = removed >= batch || files || doomed > 0;
    *ret_removed = removed;
    return 0;
}
