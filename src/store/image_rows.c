#include "store/image_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "store/db_query.h"

void image_row_done(struct image_row *r)
{
    char *const texts[] = { r->id,       r->key,   r->kind,   r->session, r->name,
                            r->language, r->bases, r->detail, r->request, r->form };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free(texts[i]);
    *r = (struct image_row){ 0 };
}

void image_rows_done(struct image_rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        image_row_done(&r->rows[i]);
    free(r->rows);
    *r = (struct image_rows){ 0 };
}

static int insert_request(struct db *db, const struct image_row *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_TEMPLATE_INSERT, e))
        return -1;
    BIND_TEXTS(&q, r->id, r->request);
    return query_run(&q, e);
}

int images_insert(struct db *db, const struct image_row *r, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_IMAGE_INSERT, e))
        return -1;
    BIND_TEXTS(&q, r->id, r->key, r->kind, r->session, r->name, r->language, r->bases, r->detail,
               r->form);
    BIND_INTS(&q, r->cell, r->bytes, r->created_ms);
    bind_blob(&q, r->digest, sizeof r->digest);
    bind_blob(&q, &r->stamp, sizeof r->stamp);
    return query_run(&q, e) || (r->request && insert_request(db, r, e)) ? -1 : 0;
}

int images_delete(struct db *db, const char *id, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_TEMPLATE_DELETE, e))
        return -1;
    bind_text(&q, id);
    return query_run(&q, e) ? -1 : query_remove(db, SQL_IMAGE_DELETE, "image", id, e);
}

int images_request(struct db *db, const char *id, char **ret, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_TEMPLATE_GET, e))
        return -1;
    bind_text(&q, id);
    int found = query_step(&q, e);
    if (found <= 0)
        return found < 0 ? -1 : err_set(e, ERR_NOT_FOUND, 0, "the request of a template is gone");
    *ret = take_text(&q);
    return query_taken(&q, e);
}

int images_demote(struct db *db, const char *id, struct err *e)
{
    return query_remove(db, SQL_IMAGE_DEMOTE, "image", id, e);
}

static void take_bytes(struct query *q, void *ret, size_t size)
{
    size_t n;
    const void *bytes = peek_blob(q, &n);
    if (n == size)
        memcpy(ret, bytes, size);
}

int images_list(struct db *db, struct image_rows *ret, struct err *e)
{
    scoped(image_rows) list = { 0 };
    scoped(query) q = { 0 };
    int found;
    if (query_get(&q, db, SQL_IMAGE_LIST, e))
        return -1;
    while ((found = query_step(&q, e)) > 0) {
        if (SQL_GROW(list.rows, list.n, e))
            return -1;
        struct image_row *r = &list.rows[list.n++];
        char **const texts[] = { &r->id,       &r->key,   &r->kind,   &r->session, &r->name,
                                 &r->language, &r->bases, &r->detail, &r->form };
        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
            *texts[i] = take_text(&q);
        r->cell = take_int(&q);
        r->bytes = take_int(&q);
        r->created_ms = take_int(&q);
        take_bytes(&q, r->digest, sizeof r->digest);
        take_bytes(&q, &r->stamp, sizeof r->stamp);
        if (query_taken(&q, e))
            return -1;
    }
    if (found < 0)
        return -1;
    sql_move(ret, &list, sizeof list);
    return 0;
}
