#include "store/artifact_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "store/db_query.h"

void artifact_row_done(struct artifact_row *r)
{
    char *texts[] = {
        r->id, r->conversation, r->title, r->content, r->language, r->type, r->parent
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
    *r = (struct artifact_row){ 0 };
}

void artifact_rows_done(struct artifact_rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        artifact_row_done(&r->rows[i]);
    free(r->rows);
    *r = (struct artifact_rows){ 0 };
}

static int no_artifact(const char *id, struct err *e)
{
    return err_set(e, ERR_NOT_FOUND, 0, "there is no artifact '%s'", QUOTED(id));
}

static void take_row(struct query *q, struct artifact_row *r)
{
    r->seq = take_int(q);
    r->id = take_text(q);
    r->conversation = take_text(q);
    r->title = take_text(q);
    r->content = take_text(q);
    r->language = take_text(q);
    r->type = take_text(q);
    r->parent = take_text(q);
    r->version = take_int(q);
    r->created_ms = take_int(q);
    r->updated_ms = take_int(q);
}

enum { LIST_BYTES = 64 << 20 };

/* Reads every row that a statement with one text parameter finds. */
static int get_all(struct db *db, enum sql id, const char *text, struct artifact_rows *ret,
                   struct err *e)
{
    scoped(artifact_rows) list = { 0 };
    scoped(query) q = { 0 };
    if (query_get(&q, db, id, e))
        return -1;
    bind_text(&q, text);
    size_t bytes = 0;
    int found;
    while ((found = query_step(&q, e)) > 0) {
        void *grown = sql_grow(list.rows, list.n, sizeof *list.rows, e);
        if (!grown)
            return -1;
        list.rows = grown;
        struct artifact_row *row = &list.rows[list.n++];
        take_row(&q, row);
        if (query_taken(&q, e))
            return -1;
        bytes += row->content ? strlen(row->content) : 0;
        if (list.n > 1 && bytes > LIST_BYTES)
            return err_set(e, ERR_TOO_LARGE, 0,
                           "these artifacts have more than %d MiB in total: get them one by one",
                           LIST_BYTES >> 20);
    }
    if (found < 0)
        return -1;
    sql_move(ret, &list, sizeof list);
    return 0;
}

static int insert_version(struct db *db, int64_t seq, int64_t version, const char *title,
                          const char *content, int64_t now_ms, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_ARTIFACT_VERSION_INSERT, e))
        return -1;
    bind_int(&q, seq);
    bind_int(&q, version);
    bind_text(&q, title);
    bind_text(&q, content);
    bind_int(&q, now_ms);
    return query_run(&q, e);
}

int artifacts_insert(struct db *db, const struct artifact_row *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_ARTIFACT_INSERT, e))
        return -1;
    BIND_TEXTS(&q, r->id, r->conversation, r->language, r->type, r->parent);
    bind_int(&q, r->created_ms);
    if (query_step(&q, e) < 0)
        return -1;
    int64_t seq = take_int(&q);
    if (query_run(&q, e))
        return -1;
    return insert_version(db, seq, 1, r->title, r->content, r->created_ms, e);
}

int artifacts_get(struct db *db, const char *id, struct artifact_row *ret, struct err *e)
{
    scoped(artifact_rows) found = { 0 };
    if (get_all(db, SQL_ARTIFACT_GET, id, &found, e))
        return -1;
    if (found.n == 0)
        return no_artifact(id, e);
    sql_move(ret, &found.rows[0], sizeof found.rows[0]);
    return 0;
}

int artifacts_update(struct db *db, const char *id, const char *content, const char *title,
                     int64_t now_ms, struct artifact_row *ret, struct err *e)
{
    scoped(artifact_row) before = { 0 };
    scoped(query) q = { 0 };
    if (artifacts_get(db, id, &before, e) ||
        insert_version(db, before.seq, before.version + 1, title ? title : before.title,
                       content ? content : before.content, now_ms, e) ||
        query_get(&q, db, SQL_ARTIFACT_UPDATE, e))
        return -1;
    BIND_INTS(&q, before.version + 1, now_ms, before.seq);
    return query_run(&q, e) ? -1 : artifacts_get(db, id, ret, e);
}

int artifacts_delete(struct db *db, const char *id, int64_t now_ms, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_ARTIFACT_DELETE, e))
        return -1;
    bind_int(&q, now_ms ? now_ms : 1); /* 0 means "not deleted" */
    bind_text(&q, id);
    if (query_run(&q, e))
        return -1;
    return query_changes(&q) ? 0 : no_artifact(id, e);
}

int artifacts_of_conversation(struct db *db, const char *conversation, struct artifact_rows *ret,
                              struct err *e)
{
    return get_all(db, SQL_ARTIFACT_OF_CONVERSATION, conversation, ret, e);
}

int artifacts_versions(struct db *db, const char *id, struct artifact_rows *ret, struct err *e)
{
    scoped(artifact_rows) found = { 0 };
    if (get_all(db, SQL_ARTIFACT_VERSIONS, id, &found, e))
        return -1;
    if (found.n == 0)
        return no_artifact(id, e);
    sql_move(ret, &found, sizeof found);
    return 0;
}
