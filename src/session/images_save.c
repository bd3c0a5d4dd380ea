/* From an image in memory, or from a file that arrived, to a file with a row. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/json.h"
#include "session/images_impl.h"
#include "session/session_impl.h"
#include "store/audit_log.h"

enum { NAME_SIZE = ID_SIZE + 8 };

struct image_saving {
    struct store_job job; /* first: the store returns it */
    uv_work_t work;
    struct images *all;
    struct image_save *save;
    struct saved_image *saved;
    struct image_room *room;
    struct fold_form form;
    int fd; /* of the file, or of the memory in its place */
    struct err err;
};

/* ---- the file ---- */

int image_stamp_of(int fd, struct image_stamp *ret, struct err *e)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at the file of an image");
    *ret = (struct image_stamp){
        .inode = st.st_ino,
        .bytes = (uint64_t)st.st_size,
        .changed_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec,
        .modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
    };
    return 0;
}

int images_digest(int fd, uint64_t bytes, uint8_t ret[DIGEST_BYTES], struct err *e)
{
    autofree char *piece = malloc(FOLD_PIECE);
    struct digest d;
    if (!piece)
        return err_no_memory(e, "a piece of an image");
    digest_begin(&d);
    for (uint64_t at = 0; at < bytes;) {
        size_t want = bytes - at < FOLD_PIECE ? (size_t)(bytes - at) : FOLD_PIECE;
        ssize_t n = pread(fd, piece, want, (off_t)at);
        if (n <= 0)
            return err_set(e, ERR_KERNEL, n < 0 ? errno : EIO, "read an image");
        digest_add(&d, piece, (size_t)n);
        at += (uint64_t)n;
    }
    digest_end(&d, ret);
    return 0;
}

/* A file that arrived is unfolded, an image of ours is folded. */
static int fill(struct image_saving *g, int fd, struct err *e)
{
    const struct image_save *s = g->save;
    struct image_row *row = &g->saved->row;
    struct fold f = { .from_fd = s->image->fd,
                      .to_fd = fd,
                      .from = s->from,
                      .stored = s->stored,
                      .bytes = (uint64_t)row->bytes,
                      .form = s->arrives ? s->arrived : g->form,
                      .keys = &g->all->keys,
                      .id = row->id,
                      .hash_image = s->arrives };
    if (s->arrives ? unfold(&f, e) : fold(&f, e))
        return -1;
    memcpy(row->digest, s->arrives ? f.image_digest : f.digest, sizeof row->digest);
    return 0;
}

/* A new file is on the disk before it has its name, and the name before a row has it. */
static int write_file(struct image_saving *g, struct err *e)
{
    int dir_fd = g->all->dir_fd;
    const char *id = g->saved->row.id;
    char fresh[NAME_SIZE];
    (void)snprintf(fresh, sizeof fresh, "%s.new", id);
    autoclose int fd = openat(dir_fd, fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              0400);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "create the file of an image");
    int rc = fill(g, fd, e);
    if (rc == 0 && (fsync(fd) < 0 || renameat(dir_fd, fresh, dir_fd, id) < 0 || fsync(dir_fd) < 0))
        rc = err_set(e, ERR_KERNEL, errno, "keep the file of an image");
    autoclose int reader = rc ? -1 : openat(dir_fd, id, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (rc == 0 && reader < 0)
        rc = err_set(e, ERR_KERNEL, errno, "open the file of an image");
    if (rc || image_stamp_of(reader, &g->saved->row.stamp, e)) {
        (void)unlinkat(dir_fd, fresh, 0);
        (void)unlinkat(dir_fd, id, 0);
        return -1;
    }
    g->fd = fd_take(&reader);
    return 0;
}

/* Where images are encrypted, one that arrives is never on the disk as it is. */
static int keep_in_memory(struct image_saving *g, struct err *e)
{
    const struct image_save *s = g->save;
    struct fold f = { .from_fd = s->image->fd,
                      .from = s->from,
                      .stored = s->stored,
                      .bytes = s->image->bytes,
                      .form = s->arrived,
                      .hash_image = true };
    if (unfold_to_memory(&f, &g->fd, e))
        return -1;
    memcpy(g->saved->row.digest, f.image_digest, sizeof f.image_digest);
    return 0;
}

/* ---- the row ---- */

/* The program of the image gets this file from now on, and the other one is closed. */
static void swap_files(struct image_saving *g)
{
    int other = g->save->image->fd;
    g->save->image->fd = g->fd;
    g->fd = other;
}

static void adopt_saved(struct image_saving *g)
{
    struct image_save *s = g->save;
    s->image->saved = g->saved;
    (void)snprintf(s->image->id, sizeof s->image->id, "%s", g->saved->row.id);
    g->saved->open = s->image;
    s->saved = g->saved;
    free(g->saved->row.request); /* it is in the database */
    g->saved->row.request = NULL;
}

static void save_over(struct image_saving *g)
{
    struct image_save *s = g->save;
    struct images *all = g->all;
    struct err e = g->err;
    images_give_room(g->room);
    memcpy(s->digest, g->saved->row.digest, sizeof s->digest);
    if (e.code == ERR_NONE && (all->freed || s->in_memory)) { /* the next service finds a file */
        saved_image_free(g->saved);
    } else if (e.code == ERR_NONE && images_append(all, g->saved, &e) == 0) {
        adopt_saved(g);
    } else {
        (void)unlinkat(all->dir_fd, g->saved->row.id, 0);
        if (!all->freed)
            images_release_bases(all, g->saved);
        saved_image_free(g->saved);
    }
    fd_close(&g->fd);
    free(g);
    s->private = NULL;
    s->on_done(s, e.code == ERR_NONE ? NULL : &e);
    images_job_over(all);
}

/* Images come and go by requests that have records of their own; these tell which files exist. */
int image_record(struct db *db, const char *kind, const char *id, const struct image_row *r,
                 struct err *e)
{
    autofree char *detail = json_line(r ? json_pack("{s:s, s:s?, s:s?, s:s?, s:I, s:s*}", "kind",
                                                    r->kind, "name", r->name, "session", r->session,
                                                    "key", r->key, "bytes", (json_int_t)r->bytes,
                                                    "form", r->form)
                                        : json_object());
    const struct audit_record record = { .time_ms = clock_unix_ms(),
                                         .kind = kind,
                                         .subject = id,
                                         .actor = "service",
                                         .detail = detail };
    return detail ? audit_append(db, &record, e) : err_no_memory(e, "an audit record");
}

static int write_row(struct db *db, struct store_job *job, struct err *e)
{
    struct image_saving *g = (struct image_saving *)job;
    const struct image_row *r = &g->saved->row;
    return images_insert(db, r, e) || image_record(db, "image.saved", r->id, r, e) ? -1 : 0;
}

/* The memory of an image is free from here on, unless its file cannot be mapped. */
static void on_row_written(struct store_job *job)
{
    struct image_saving *g = (struct image_saving *)job;
    g->err = job->err;
    if (g->err.code == ERR_NONE && fold_is_plain(&g->form))
        swap_files(g);
    save_over(g);
}

static void save_work(uv_work_t *work)
{
    struct image_saving *g = work->data;
    (void)!(g->save->in_memory ? keep_in_memory(g, &g->err) : write_file(g, &g->err));
}

static void on_saved(uv_work_t *work, int status)
{
    struct image_saving *g = work->data;
    if ((status < 0 || g->all->freed) && g->err.code == ERR_NONE)
        (void)!err_set(&g->err, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (g->err.code == ERR_NONE && g->save->in_memory)
        swap_files(g);
    if (g->err.code != ERR_NONE || g->save->in_memory) {
        save_over(g);
        return;
    }
    g->job = (struct store_job){ .work = write_row, .done = on_row_written };
    store_write(g->all->store, &g->job);
}

/* ---- the request ---- */

static char *base_ids(const struct session_image *image)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < image->n_bases; i++)
        (void)json_array_append_new(ids, json_string(image->bases[i]->id));
    char *text = json_dumps(ids, JSON_COMPACT);
    json_decref(ids);
    return text;
}

static struct saved_image *saved_new(const struct image_save *s, const struct fold_form *form,
                                     struct err *e)
{
    struct saved_image *saved = calloc(1, sizeof *saved);
    const struct image_row *r = &s->row;
    char id[ID_SIZE], word[FOLD_FORM_SIZE];
    if (!saved) {
        (void)!err_no_memory(e, "an image");
        return NULL;
    }
    if (r->id)
        (void)snprintf(id, sizeof id, "%s", r->id);
    else
        id_make("img_", id);
    saved->row = (struct image_row){ .id = strdup(id),
                                     .key = text_copy(r->key),
                                     .kind = text_copy(r->kind),
                                     .session = text_copy(r->session),
                                     .name = text_copy(r->name),
                                     .language = text_copy(r->language),
                                     .bases = s->image->n_bases ? base_ids(s->image) : NULL,
                                     .detail = text_copy(r->detail),
                                     .request = text_copy(r->request),
                                     .form = text_copy(fold_form_text(form, word)),
                                     .cell = r->cell,
                                     .bytes = (int64_t)s->image->bytes,
                                     .created_ms = r->created_ms ? r->created_ms
                                                                 : clock_unix_ms() };
    if (saved->row.id && saved->row.kind && saved->row.language)
        return saved;
    saved_image_free(saved);
    (void)!err_no_memory(e, "an image");
    return NULL;
}

static void give_up(struct image_saving *g)
{
    if (g->room)
        images_give_room(g->room);
    if (g->saved) {
        images_release_bases(g->all, g->saved);
        saved_image_free(g->saved);
    }
    free(g);
}

/* From here on its bytes count, though it has no row yet. */
static int take_room(struct image_saving *g, struct err *e)
{
    const struct image_save *s = g->save;
    uint64_t bytes = s->image->bytes;
    uint64_t freed = s->frees < bytes ? s->frees : bytes;
    if (images_check_room(g->all, s->row.key, bytes - freed, e) ||
        images_check_disk(g->all, bytes, e))
        return -1;
    return images_take_room(g->all, s->row.key, bytes, false, &g->room, e);
}

int images_save(struct images *all, struct image_save *s, struct err *e)
{
    struct image_saving *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "an image");
    *g = (struct image_saving){ .all = all, .save = s, .fd = -1, .form.compressed = s->compress };
    s->in_memory = s->arrives && all->keys.n > 0;
    if (all->keys.n > 0)
        memcpy(g->form.key, all->keys.keys[0].id, sizeof g->form.key);
    if (s->arrives)
        g->form = (struct fold_form){ 0 };
    g->work.data = g;
    if (take_room(g, e) || (s->in_memory && images_check_memory(all, s->image->bytes, e)) ||
        !(g->saved = saved_new(s, &g->form, e)) || images_link_bases(all, g->saved, e)) {
        give_up(g);
        return -1;
    }
    if (uv_queue_work(all->loop, &g->work, save_work, on_saved) != 0) {
        give_up(g);
        return err_set(e, ERR_UNAVAILABLE, 0, "no thread can write an image: try again");
    }
    all->jobs++;
    s->private = g;
    return 0;
}
