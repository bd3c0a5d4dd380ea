/* Images that leave a session as a file, and files that become a session. Nothing in a file is
 * believed: its bytes are a guest's, and reach only the jar that becomes them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"
#include "store/audit_log.h"

/* ---- out ---- */

struct session_exporting {
    struct session_capture capture; /* of a session that is awake */
    struct image_load load;         /* of one that sleeps */
    struct store_job job;
    uv_work_t work;
    struct session_export *export;
    struct session *session;
    struct session_image *image;
    char *actor;
    struct err err;
};

static void export_over(struct session_exporting *g)
{
    struct session_export *x = g->export;
    struct session *s = g->session;
    struct err e = g->err;
    if (e.code == ERR_NONE) {
        x->bytes = g->image->bytes;
        x->fd = fcntl(g->image->fd, F_DUPFD_CLOEXEC, 0);
        if (x->fd < 0)
            (void)!err_set(&e, ERR_KERNEL, errno, "copy the descriptor of an image");
    }
    session_image_unref(g->image);
    json_decref(g->capture.not_carried);
    free(g->actor);
    free(g);
    x->on_done(x, s, e.code == ERR_NONE ? NULL : &e);
    session_unref(s);
}

static void hash_work(uv_work_t *work)
{
    struct session_exporting *g = work->data;
    (void)!images_digest(g->image->fd, g->image->bytes, g->export->digest, &g->err);
}

static struct session_exporting *of_job(struct store_job *job)
{
    return (struct session_exporting *)((char *)job - offsetof(struct session_exporting, job));
}

/* No byte leaves before this is written. */
static int write_export(struct db *db, struct store_job *job, struct err *e)
{
    const struct session_exporting *g = of_job(job);
    autofree char *detail = json_line(json_pack("{s:I}", "bytes", (json_int_t)g->image->bytes));
    const struct audit_record record = { .time_ms = clock_unix_ms(),
                                         .kind = "session.exported",
                                         .subject = g->session->id,
                                         .actor = g->actor ? g->actor : "service",
                                         .detail = detail };
    return detail ? audit_append(db, &record, e) : err_no_memory(e, "an audit record");
}

static void on_export_written(struct store_job *job)
{
    struct session_exporting *g = of_job(job);
    g->err = job->err;
    export_over(g);
}

static void on_hashed(uv_work_t *work, int status)
{
    struct session_exporting *g = work->data;
    if (status < 0 && g->err.code == ERR_NONE)
        (void)!err_set(&g->err, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (g->err.code != ERR_NONE) {
        export_over(g);
        return;
    }
    g->job = (struct store_job){ .work = write_export, .done = on_export_written };
    store_write(g->session->all->store, &g->job);
}

static void hash(struct session_exporting *g, struct session_image *image, const struct err *e)
{
    g->image = image;
    g->work.data = g;
    if (e)
        g->err = *e;
    else if (image->n_bases > 0)
        (void)!err_set(&g->err, ERR_CONFLICT, 0,
                       "the image of the session needs others: wake the session, and try again");
    else if (uv_queue_work(g->session->all->loop, &g->work, hash_work, on_hashed) != 0)
        (void)!err_set(&g->err, ERR_UNAVAILABLE, 0, "no thread can read an image: try again");
    if (g->err.code != ERR_NONE)
        export_over(g);
}

static void on_captured(struct session_capture *c, const struct err *e)
{
    hash((struct session_exporting *)c, c->image, e);
}

static void on_loaded(struct image_load *l, const struct err *e)
{
    hash((struct session_exporting *)((char *)l - offsetof(struct session_exporting, load)),
         l->image, e);
}

int session_export(struct session *s, struct session_export *x, struct err *e)
{
    bool sleeps = s->state == SESSION_SLEEPING;
    struct saved_image *saved = sleeps ? images_find(s->all->images, s->image) : NULL;
    struct session_exporting *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "an export");
    *g = (struct session_exporting){
        .capture = { .on_done = on_captured },
        .load.on_done = on_loaded,
        .export = x,
        .session = s,
        .actor = text_copy(x->actor),
    };
    if (sleeps ? (saved ? images_load(s->all->images, saved, &g->load, e)
                        : err_set(e, ERR_CONFLICT, 0, "the image of the session is not there"))
               : session_capture(s, &g->capture, e)) {
        free(g->actor);
        free(g);
        return -1;
    }
    s->refs++;
    return 0;
}

/* ---- in ---- */

int sessions_receive(struct sessions *all, const char *key, uint64_t bytes, struct image_room **ret,
                     int *ret_fd, struct err *e)
{
    if (all->stopping)
        return err_set(e, ERR_BUSY, 0, "the service is stopping: try again when it is back");
    return images_receive(all->images, key, bytes, ret, ret_fd, e);
}

struct session_importing {
    struct image_save save;
    struct session_import *import;
    struct sessions *all;
    struct session_image *image;
};

int session_record_import(struct db *db, const struct session *s, struct err *e)
{
    const struct audit_record record = { .time_ms = s->created_ms,
                                         .kind = "session.imported",
                                         .subject = s->id,
                                         .actor = s->spec.actor ? s->spec.actor : "service",
                                         .detail = s->spec.imported };
    return s->spec.imported ? audit_append(db, &record, e) : 0;
}

static int begin_session(struct session_importing *g, struct err *e)
{
    struct session_import *i = g->import;
    char digest[2 * DIGEST_BYTES + 1];
    if (memcmp(g->save.digest, i->digest, sizeof i->digest) != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the image is not the one that was exported: its digest is another one");
    (void)sodium_bin2hex(digest, sizeof digest, i->digest, sizeof i->digest);
    i->spec.imported = json_line(
        json_pack("{s:I, s:s}", "bytes", (json_int_t)g->image->bytes, "digest", digest));
    if (!i->spec.imported)
        return err_no_memory(e, "the record of an import");
    i->spec.image = session_image_ref(g->image);
    return session_new(g->all, &i->spec, i->watch, &i->session, e);
}

static void on_saved(struct image_save *s, const struct err *e)
{
    struct session_importing *g = (struct session_importing *)s;
    struct session_import *i = g->import;
    struct err failed = { 0 };
    if (e) { /* bytes that do not unfold are the client's */
        failed = *e;
        failed.code = e->code == ERR_CONFLICT ? ERR_BAD_REQUEST : e->code;
    } else if (!s->saved && !s->in_memory) {
        (void)!err_set(&failed, ERR_UNAVAILABLE, 0, "the service is stopping");
    } else { /* the session has the file open, as a copy has the image of its original */
        (void)!begin_session(g, &failed);
        if (s->saved)
            images_remove(g->all->images, s->saved);
    }
    session_image_unref(g->image);
    free(g);
    session_spec_done(&i->spec);
    i->on_done(i, failed.code == ERR_NONE ? NULL : &failed);
}

int session_import(struct sessions *all, struct session_import *i, int fd, uint64_t from,
                   uint64_t stored, struct err *e)
{
    struct session_importing *g = calloc(1, sizeof *g);
    struct session_image *image = calloc(1, sizeof *image);
    if (!g || !image) {
        free(g);
        free(image);
        fd_close(&fd);
        session_spec_done(&i->spec);
        return err_no_memory(e, "an image");
    }
    *image = (struct session_image){ .fd = fd, .refs = 1, .bytes = i->bytes };
    *g = (struct session_importing){
        .save = { .on_done = on_saved,
                  .image = image,
                  .arrives = true,
                  .from = from,
                  .stored = stored,
                  .arrived.compressed = i->compressed,
                  .row = { .key = i->spec.key,
                           .kind = (char *)"import",
                           .name = i->spec.name,
                           .language = (char *)i->spec.language->name } },
        .import = i,
        .all = all,
        .image = image,
    };
    if (sessions_check_room(all, &i->spec, 1, e) || images_save(all->images, &g->save, e)) {
        session_image_unref(image);
        free(g);
        session_spec_done(&i->spec);
        return -1;
    }
    return 0;
}
