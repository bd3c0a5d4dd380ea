#include "store/artifact_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "base/units.h"
#include "store/db_query.h"

void artifact_row_done(struct artifact_row *r)
{
    char *texts[] = { r->id,      r->owner,    r->conversation, r->title,
                      r->content, r->language, r->type,         r->parent };
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
    r->owner = take_text(q);
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

/* Reads every row that a statement with a text and an owner finds. */
static int get_all(struct db *db, enum sql id, const char *text, const char *owner,
                   struct artifact_rows *ret, struct err *e)
{
    scoped(artifact_rows) list = { 0 };
    scoped(query) q = { 0 };
    if (query_get(&q, db, id, e))
        return -1;
    BIND_TEXTS(&q, text, owner);
    size_t bytes = 0;
    int found;
    while ((found = query_step(&q, e)) > 0) {
        if (SQL_GROW(list.rows, list.n, e))
            return -1;
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

/* ---- the bytes of an owner ---- */
static int64_t version_bytes(const char *title, const char *content)
{
    return (int64_t)(strlen(title) + strlen(content)) + ARTIFACT_VERSION_BYTES;
}

/* Adds to the bytes of the owner; the bytes may be negative. */
static int owner_add(struct db *db, const char *owner, int64_t bytes, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_ARTIFACT_OWNER_ADD, e))
        return -1;
    bind_text(&q, owner);
    bind_int(&q, bytes);
    return query_run(&q, e);
}

static int no_room(const char *whose, int64_t used, int64_t more, int64_t max, struct err *e)
{
    char had[32], size[32], bound[32];
    return err_set(e, ERR_QUOTA, 0,
                   "%s take %s of %s, and this version would take %s more: delete artifacts that "
                   "are not needed",
                   whose, unit_format(UNIT_BYTES, (uint64_t)used, had, sizeof had),
                   unit_format(UNIT_BYTES, (uint64_t)max, bound, sizeof bound),
                   unit_format(UNIT_BYTES, (uint64_t)more, size, sizeof size));
}

static int owner_has_room(struct db *db, const char *owner, int64_t more,
                          const struct artifact_quota *quota, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_ARTIFACT_BYTES, e))
        return -1;
    bind_text(&q, owner);
    if (query_step(&q, e) < 0)
        return -1;
    int64_t own = take_int(&q), all = take_int(&q);
    if (quota->owner_bytes && own + more > quota->owner_bytes)
        return no_room("the artifacts of this key", own, more, quota->owner_bytes, e);
    if (quota->all_bytes && all + more > quota->all_bytes)
        return no_room("the artifacts of all keys", all, more, quota->all_bytes, e);
    return 0;
}

/* ---- rows ---- */
static int insert_version(struct db *db, int64_t seq, int64_t version, const char *owner,
                          const char *title, const char *content, int64_t now_ms,
                          const struct artifact_quota *quota, struct err *e)
{
    int64_t bytes = version_bytes(title, content);
    scoped(query) q = { 0 };
    if (owner_has_room(db, owner, bytes, quota, e) ||
        query_get(&q, db, SQL_ARTIFACT_VERSION_INSERT, e))
        return -1;
    bind_int(&q, seq);
    bind_int(&q, version);
    bind_text(&q, title);
    bind_text(&q, content);
    bind_int(&q, now_ms);
    return query_run(&q, e) ? -1 : owner_add(db, owner, bytes, e);
}

int artifacts_insert(struct db *db, const struct artifact_row *r,
                     const struct artifact_quota *quota, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_ARTIFACT_INSERT, e))
        return -1;
    BIND_TEXTS(&q, r->id, r->owner, r->conversation, r->language, r->type, r->parent);
    bind_int(&q, r->created_ms);
    if (query_step(&q, e) < 0)
        return -1;
    int64_t seq = take_int(&q);
    if (query_run(&q, e))
        return -1;
    return insert_version(db, seq, 1, r->owner, r->title, r->content, r->created_ms, quota, e);
}

int artifacts_get(struct db *db, const char *id, const char *owner, struct artifact_row *ret,
                  struct err *e)
{
    scoped(artifact_rows) found = { 0 };
    if (get_all(db, SQL_ARTIFACT_GET, id, owner, &found, e))
        return -1;
    if (found.n == 0)
        return no_artifact(id, e);
    sql_move(ret, &found.rows[0], sizeof found.rows[0]);
    return 0;
}

int artifacts_update(struct db *db, const char *id, const char *owner, const char *content,
                     const char *title, int64_t now_ms, const struct artifact_quota *quota,
                     struct artifact_row *ret, struct err *e)
{
    scoped(artifact_row) before = { 0 };
    scoped(query) q = { 0 };
    if (artifacts_get(db, id, owner, &before, e) ||
        insert_version(db, before.seq, before.version + 1, before.owner,
                       title ? title : before.title, content ? content : before.content, now_ms,
                       quota, e) ||
        query_get(&q, db, SQL_ARTIFACT_UPDATE, e))
        return -1;
    BIND_INTS(&q, before.version + 1, now_ms, before.seq);
    return query_run(&q, e) ? -1 : artifacts_get(db, id, owner, ret, e);
}

static int bytes_of(struct db *db, int64_t seq, int64_t *ret, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_ARTIFACT_SIZE, e))
        return -1;
    bind_int(&q, ARTIFACT_VERSION_BYTES);
    bind_int(&q, seq);
    if (query_step(&q, e) < 0)
        return -1;
    *ret = take_int(&q);
    return 0;
}

int artifacts_delete(struct db *db, const char *id, const char *owner, struct err *e)
{
    scoped(artifact_row) row = { 0 };
    int64_t bytes;
    return artifacts_get(db, id, owner, &row, e) || bytes_of(db, row.seq, &bytes, e) ||
                   query_run_seq(db, SQL_ARTIFACT_VERSIONS_DELETE, row.seq, e) ||
                   query_run_seq(db, SQL_ARTIFACT_DELETE, row.seq, e) ||
                   owner_add(db, row.owner, -bytes, e)
               ? -1
               : 0;
}

int artifacts_of_conversation(struct db *db, const char *conversation, const char *owner,
                              struct artifact_rows *ret, struct err *e)
{
    return get_all(db, SQL_ARTIFACT_OF_CONVERSATION, conversation, owner, ret, e);
}

int artifacts_list(struct db *db, int64_t before_seq, const char *owner, struct artifact_rows *ret,
                   struct err *e)
{
    char before[32];
    (void)snprintf(before, sizeof before, "%lld", (long long)before_seq);
    return get_all(db, SQL_ARTIFACT_LIST, before, owner, ret, e);
}

int artifacts_versions(struct db *db, const char *id, const char *owner, struct artifact_rows *ret,
                       struct err *e)
{
    scoped(artifact_rows) found = { 0 };
    if (get_all(db, SQL_ARTIFACT_VERSIONS, id, owner, &found, e))
        return -1;
    if (found.n == 0)
        return no_artifact(id, e);
    sql_move(ret, &found, sizeof found);
    return 0;
}
