/* store/rule_rows.c — standing rules of people: "deny" and "allow". Declared in
 * store/approval_rows.h. */
#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "store/approval_rows.h"
#include "store/db_query.h"

void rule_row_done(struct rule_row *r)
{
    char *texts[] = { r->id,    r->action, r->thread,  r->tool,     r->language,
                      r->match, r->text,   r->made_by, r->requester };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
    *r = (struct rule_row){ 0 };
}

int rules_insert(struct db *db, const struct rule_row *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RULE_INSERT, e))
        return -1;
    BIND_TEXTS(&q, r->id, r->action, r->thread, r->tool, r->language, r->match, r->text,
               r->made_by);
    bind_int(&q, r->created_ms);
    bind_text(&q, r->requester);
    return query_run(&q, e);
}

int rules_delete(struct db *db, const char *id, struct err *e)
{
    return query_remove(db, SQL_RULE_DELETE, "rule", id, e);
}

void rule_rows_done(struct rule_rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        rule_row_done(&r->rows[i]);
    free(r->rows);
    *r = (struct rule_rows){ 0 };
}

int rules_list(struct db *db, struct rule_rows *ret, struct err *e)
{
    scoped(rule_rows) list = { 0 };
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_RULE_LIST, e))
        return -1;
    int found;
    while ((found = query_step(&q, e)) > 0) {
        if (SQL_GROW(list.rows, list.n, e))
            return -1;
        struct rule_row *r = &list.rows[list.n++];
        r->seq = take_int(&q);
        r->id = take_text(&q);
        r->action = take_text(&q);
        r->thread = take_text(&q);
        r->tool = take_text(&q);
        r->language = take_text(&q);
        r->match = take_text(&q);
        r->text = take_text(&q);
        r->made_by = take_text(&q);
        r->created_ms = take_int(&q);
        r->requester = take_text(&q);
        if (query_taken(&q, e))
            return -1;
    }
    if (found < 0)
        return -1;
    sql_move(ret, &list, sizeof list);
    return 0;
}
