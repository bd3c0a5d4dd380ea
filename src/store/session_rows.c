#include "store/session_rows.h"

#include <stdlib.h>

#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "store/db_query.h"

void session_row_done(struct session_row *r)
{
    free(r->id);
    free(r->key);
    free(r->name);
    free(r->language);
    free(r->reason);
    free(r->adopted_by);
    free(r->parent);
    free(r->parent_image);
    free(r->rollbacks);
    free(r->image);
    free(r->spec);
    *r = (struct session_row){ 0 };
}

void session_rows_done(struct session_rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        session_row_done(&r->rows[i]);
    free(r->rows);
    *r = (struct session_rows){ 0 };
}

int sessions_insert(struct db *db, const struct session_row *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_INSERT, e))
        return -1;
    BIND_TEXTS(&q, r->id, r->key, r->name, r->language);
    bind_int(&q, r->created_ms);
    BIND_TEXTS(&q, r->parent, r->parent_image);
    bind_int(&q, r->parent_cell);
    return query_run(&q, e);
}

const char *const rollback_words[] = { "rollback", "undo", "jar_ended", "restart", "replay", NULL };

int sessions_roll_back(struct db *db, const char *id, const struct session_rollback_row *r,
                       struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_ROLL_BACK, e))
        return -1;
    bind_text(&q, id);
    BIND_INTS(&q, r->last, r->to, r->at_ms);
    bind_text(&q, rollback_words[r->kind < ROLLBACK_KINDS ? r->kind : ROLLBACK_ASKED]);
    return query_run(&q, e);
}

int sessions_finish(struct db *db, const struct session_row *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_FINISH, e))
        return -1;
    bind_int(&q, r->ended_ms);
    bind_text(&q, r->reason);
    bind_int(&q, r->cells);
    bind_text(&q, r->adopted_by);
    bind_text(&q, r->id);
    return query_run(&q, e);
}

int sessions_set_adopted(struct db *db, const char *id, const char *by, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_SET_ADOPTED, e))
        return -1;
    BIND_TEXTS(&q, by, id);
    return query_run(&q, e);
}

int sessions_set_image(struct db *db, const struct session_row *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_SET_IMAGE, e))
        return -1;
    BIND_TEXTS(&q, r->image, r->spec);
    bind_int(&q, r->cells);
    bind_text(&q, r->id);
    return query_run(&q, e);
}

static void take_row(struct query *q, struct session_row *r)
{
    r->id = take_text(q);
    r->key = take_text(q);
    r->name = take_text(q);
    r->language = take_text(q);
    r->created_ms = take_int(q);
    r->ended_ms = take_int(q);
    r->reason = take_text(q);
    r->cells = take_int(q);
    r->parent = take_text(q);
    r->parent_image = take_text(q);
    r->parent_cell = take_int(q);
    r->rollbacks = take_text(q);
}

int sessions_get(struct db *db, const char *id, struct session_row *ret, struct err *e)
{
    scoped(session_row) row = { 0 };
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_GET, e))
        return -1;
    bind_text(&q, id);
    int found = query_step(&q, e);
    if (found < 0)
        return -1;
    if (found == 0)
        return err_set(e, ERR_NOT_FOUND, 0, "there is no session '%s'", QUOTED(id));
    take_row(&q, &row);
    if (query_taken(&q, e))
        return -1;
    sql_move(ret, &row, sizeof row);
    return 0;
}

int sessions_find_cell(struct db *db, const char *session, int64_t cell, char **ret_run,
                       struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_CELL, e))
        return -1;
    bind_text(&q, session);
    bind_int(&q, cell);
    int found = query_step(&q, e);
    if (found < 0)
        return -1;
    if (found == 0)
        return err_set(e, ERR_NOT_FOUND, 0, "session '%s' has no cell %lld", QUOTED(session),
                       (long long)cell);
    *ret_run = take_text(&q);
    return query_taken(&q, e);
}

/* Appends the text of each row. */
static int add_texts(struct query *q, char ***list, struct err *e)
{
    int found;
    while ((found = query_step(q, e)) > 0) {
        autofree char *text = take_text(q);
        if (query_taken(q, e) || strv_add(list, text, e))
            return -1;
    }
    return found;
}

int sessions_cells_after(struct db *db, const char *session, int64_t after, unsigned limit,
                         char ***ids, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_CELLS_AFTER, e))
        return -1;
    bind_text(&q, session);
    bind_int(&q, after);
    bind_int(&q, limit);
    return add_texts(&q, ids, e);
}

int sessions_cells_newest(struct db *db, const char *session, unsigned limit, char ***ids,
                          struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_CELLS_NEWEST, e))
        return -1;
    bind_text(&q, session);
    bind_int(&q, limit);
    return add_texts(&q, ids, e);
}

int sessions_languages(struct db *db, int64_t since_ms, char ***languages, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_LANGUAGES, e))
        return -1;
    bind_int(&q, since_ms);
    return add_texts(&q, languages, e);
}

static int take_rows(struct query *q, struct session_rows *ret, struct err *e)
{
    scoped(session_rows) list = { 0 };
    int found;
    while ((found = query_step(q, e)) > 0) {
        if (SQL_GROW(list.rows, list.n, e))
            return -1;
        take_row(q, &list.rows[list.n++]);
        if (query_taken(q, e))
            return -1;
    }
    if (found < 0)
        return -1;
    sql_move(ret, &list, sizeof list);
    return 0;
}

int sessions_ended(struct db *db, const char *key, unsigned limit, struct session_rows *ret,
                   struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_ENDED, e))
        return -1;
    bind_text(&q, key);
    bind_int(&q, limit);
    return take_rows(&q, ret, e);
}

int sessions_tree(struct db *db, const char *id, struct session_rows *ret, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_TREE, e))
        return -1;
    bind_text(&q, id);
    return take_rows(&q, ret, e);
}

int sessions_sleeping(struct db *db, int64_t after, unsigned limit, struct session_rows *ret,
                      struct err *e)
{
    scoped(session_rows) list = { 0 };
    scoped(query) q = { 0 };
    int found;
    if (query_get(&q, db, SQL_SESSION_SLEEPING, e))
        return -1;
    bind_int(&q, after);
    bind_int(&q, limit);
    while ((found = query_step(&q, e)) > 0) {
        if (SQL_GROW(list.rows, list.n, e))
            return -1;
        struct session_row *r = &list.rows[list.n++];
        take_row(&q, r);
        r->image = take_text(&q);
        r->spec = take_text(&q);
        r->number = take_int(&q);
        if (query_taken(&q, e))
            return -1;
    }
    if (found < 0)
        return -1;
    sql_move(ret, &list, sizeof list);
    return 0;
}

int sessions_count_cells(struct db *db, const char *session, int64_t *ret, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_CELLS, e))
        return -1;
    bind_text(&q, session);
    if (query_step(&q, e) < 0)
        return -1;
    *ret = take_int(&q);
    return query_taken(&q, e);
}

int sessions_lose(struct db *db, int64_t now_ms, const char *reason, const char *except,
                  struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_LOSE, e))
        return -1;
    bind_int(&q, now_ms);
    bind_text(&q, reason);
    bind_text(&q, except);
    return query_run(&q, e);
}

int sessions_retain(struct db *db, int64_t before_ms, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_SESSION_RETAIN, e))
        return -1;
    bind_int(&q, before_ms);
    return query_run(&q, e);
}
