/* The keys in memory: loading, reloading and replacing them. */
#include <stdlib.h>

#include "api/kernel/auth.h"
#include "base/log.h"

void auth_replace(struct api *api, struct key_row *rows, size_t n, bool existed)
{
    free(api->keys->rows);
    *api->keys = (struct api_keys){ rows, n, existed || api->keys->existed || n > 0 };
}

int auth_open(struct api *api, struct err *e)
{
    struct db *db;
    api->keys = calloc(1, sizeof *api->keys);
    if (!api->keys)
        return err_no_memory(e, "the keys");
    if (db_open(&db, api->data_dir, DB_READ, e))
        return -1;
    int failed = keys_existed(db, &api->keys->existed, e) ||
                 keys_list(db, &api->keys->rows, &api->keys->n, e);
    db_close(db);
    return failed;
}

void auth_close(struct api *api)
{
    if (!api->keys)
        return;
    free(api->keys->rows);
    free(api->keys);
    api->keys = NULL;
}

struct reload {
    struct store_job job;
    struct api *api;
    struct key_row *rows;
    size_t n;
    bool existed;
};

static int reload_work(struct db *db, struct store_job *job, struct err *e)
{
    struct reload *r = (struct reload *)job;
    return keys_existed(db, &r->existed, e) || keys_list(db, &r->rows, &r->n, e) ? -1 : 0;
}

/* If the keys cannot be read, the old ones stay. Without keys every caller would be refused. */
static void reload_done(struct store_job *job)
{
    struct reload *r = (struct reload *)job;
    if (job->err.code == ERR_NONE)
        auth_replace(r->api, r->rows, r->n, r->existed);
    else
        log_error(LOG_ERROR, "keys.not_read", &job->err);
    free(r);
}

void api_reload_keys(struct api *api)
{
    struct reload *r = calloc(1, sizeof *r);
    if (!r) {
        struct err e;
        (void)err_no_memory(&e, "the keys");
        log_error(LOG_ERROR, "keys.not_read", &e);
        return;
    }
    r->job = (struct store_job){ .work = reload_work, .done = reload_done };
    r->api = api;
    store_read(api->store, &r->job);
}
