#include "session/images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"
#include "store/audit_log.h"

enum { PIECE = 1 << 20, NAME_SIZE = ID_SIZE + 8 };

struct images {
    uv_loop_t *loop;
    struct store *store;
    int dir_fd;
    struct images_limits limits;
    struct saved_image *first, **end;
    struct image_upload *uploads;
    unsigned jobs; /* that still refer to this */
    bool freed;
};

/* An image that arrives: its bytes count from the head of the request on. */
struct image_upload {
    struct images *all;
    struct image_upload *next;
    char *key;
    uint64_t bytes;
};

/* ---- the list ---- */

struct saved_image *images_first(const struct images *all)
{
    return all->first;
}

struct saved_image *images_find(const struct images *all, const char *id)
{
    for (struct saved_image *s = all->first; s; s = s->next)
        if (strcmp(s->row.id, id) == 0)
            return s;
    return NULL;
}

static bool is_of_key(const char *owner, const char *key)
{
    return key ? owner && strcmp(owner, key) == 0 : !owner;
}

uint64_t images_bytes_of(const struct images *all, const char *key)
{
    uint64_t sum = 0;
    for (const struct saved_image *s = all->first; s; s = s->next)
        sum += is_of_key(s->row.key, key) ? (uint64_t)s->row.bytes : 0;
    return sum;
}

uint64_t images_bytes(const struct images *all)
{
    uint64_t sum = 0;
    for (const struct saved_image *s = all->first; s; s = s->next)
        sum += (uint64_t)s->row.bytes;
    return sum;
}

static uint64_t mib(uint64_t bytes)
{
    return (bytes + (1 << 20) - 1) >> 20;
}

int images_check_room(const struct images *all, const char *key, uint64_t bytes, struct err *e)
{
    struct statvfs disk;
    uint64_t own = images_bytes_of(all, key), sum = images_bytes(all), arriving = 0;
    for (const struct image_upload *u = all->uploads; u; u = u->next) {
        arriving += u->bytes;
        own += is_of_key(u->key, key) ? u->bytes : 0;
    }
    sum += arriving;
    if (own + bytes > all->limits.max_bytes_per_key)
        return err_set(e, ERR_QUOTA, 0,
                       "an image of %llu MiB does not fit: the images of this key have %llu MiB, "
                       "and images.max_bytes_per_key allows %llu: delete checkpoints, sleeping "
                       "sessions or templates",
                       (unsigned long long)mib(bytes), (unsigned long long)mib(own),
                       (unsigned long long)mib(all->limits.max_bytes_per_key));
    if (sum + bytes > all->limits.max_bytes)
        return err_set(e, ERR_STORAGE, 0,
                       "an image of %llu MiB does not fit: all images have %llu MiB, and "
                       "images.max_bytes allows %llu",
                       (unsigned long long)mib(bytes), (unsigned long long)mib(sum),
                       (unsigned long long)mib(all->limits.max_bytes));
    if (fstatvfs(all->dir_fd, &disk) == 0 &&
        (uint64_t)disk.f_bavail * disk.f_frsize < all->limits.min_free + arriving + bytes)
        return err_set(e, ERR_STORAGE, 0,
                       "an image of %llu MiB does not fit: the disk has %llu MiB, and %llu must "
                       "stay free (storage.min_free)",
                       (unsigned long long)mib(bytes),
                       (unsigned long long)mib((uint64_t)disk.f_bavail * disk.f_frsize),
                       (unsigned long long)mib(all->limits.min_free));
    return 0;
}

static void append(struct images *all, struct saved_image *s)
{
    s->next = NULL;
    *all->end = s;
    all->end = &s->next;
}

static void saved_free(struct saved_image *s)
{
    if (s->open)
        s->open->saved = NULL;
    image_row_done(&s->row);
    free(s);
}

static void unlink_saved(struct images *all, struct saved_image *s)
{
    struct saved_image **at = &all->first;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (all->end == &s->next)
        all->end = at;
}

static void job_over(struct images *all)
{
    if (--all->jobs > 0 || !all->freed)
        return;
    fd_close(&all->dir_fd);
    free(all);
}

void images_use(struct images *all)
{
    all->jobs++;
}

void images_unuse(struct images *all)
{
    job_over(all);
}

/* ---- bases ---- */

void images_pin(struct images *all, const char *id)
{
    struct saved_image *s = images_find(all, id);
    if (s)
        s->dependents++;
}

static void release(struct images *all, struct saved_image *s)
{
    if (--s->dependents == 0 && s->is_removed)
        images_remove(all, s);
}

void images_unpin(struct images *all, const char *id)
{
    struct saved_image *s = images_find(all, id);
    if (s)
        release(all, s);
}

static void release_bases(struct images *all, struct saved_image *s)
{
    size_t n = s->n_bases;
    s->n_bases = 0;
    for (size_t i = 0; i < n; i++)
        release(all, s->bases[i]);
}

/* `bases` of the row, as pointers. */
static int link_bases(struct images *all, struct saved_image *s, struct err *e)
{
    json_auto_t *ids = s->row.bases ? json_loads(s->row.bases, 0, NULL) : NULL;
    size_t n = json_array_size(ids);
    for (size_t i = 0; i < n; i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        struct saved_image *base = id ? images_find(all, id) : NULL;
        if (!base || s->n_bases == IMAGE_BASES)
            return err_set(e, ERR_CONFLICT, 0, "image '%s' needs another one, which is gone",
                           s->row.id);
        s->bases[s->n_bases++] = base;
        base->dependents++;
    }
    return 0;
}

static char *base_ids(const struct session_image *image)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < image->n_bases; i++)
        (void)json_array_append_new(ids, json_string(image->bases[i]->id));
    char *text = json_dumps(ids, JSON_COMPACT);
    json_decref(ids);
    return text;
}

/* ---- files ---- */

static int look_at(int fd, struct image_stamp *ret, struct err *e)
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

/* to_fd -1: only the digest. */
static int copy_and_hash(int from_fd, uint64_t from, int to_fd, uint64_t bytes,
                         uint8_t ret[DIGEST_BYTES], struct err *e)
{
    autofree char *piece = malloc(PIECE);
    struct digest d;
    if (!piece)
        return err_no_memory(e, "a piece of an image");
    digest_begin(&d);
    for (uint64_t at = 0; at < bytes;) {
        size_t want = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;
        ssize_t n = pread(from_fd, piece, want, (off_t)(from + at));
        if (n <= 0)
            return err_set(e, ERR_KERNEL, n < 0 ? errno : EIO, "read an image");
        if (to_fd >= 0 && fd_write_all(to_fd, piece, (size_t)n))
            return err_set(e, errno == ENOSPC || errno == EDQUOT ? ERR_STORAGE : ERR_KERNEL, errno,
                           "write the file of an image");
        digest_add(&d, piece, (size_t)n);
        at += (uint64_t)n;
    }
    digest_end(&d, ret);
    return 0;
}

int images_digest(int fd, uint64_t bytes, uint8_t ret[DIGEST_BYTES], struct err *e)
{
    return copy_and_hash(fd, 0, -1, bytes, ret, e);
}

/* ---- files that arrive ---- */

int images_receive(struct images *all, const char *key, uint64_t bytes, struct image_upload **ret,
                   int *ret_fd, struct err *e)
{
    char id[ID_SIZE];
    if (images_check_room(all, key, bytes, e))
        return -1;
    id_make("img_", id);
    autoclose int fd = openat(all->dir_fd, id, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              0400);
    if (fd < 0 || unlinkat(all->dir_fd, id, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "create the file of an image");
    struct image_upload *u = calloc(1, sizeof *u);
    char *copy = text_copy(key);
    if (!u || (key && !copy)) {
        free(u);
        free(copy);
        return err_no_memory(e, "an image");
    }
    *u = (struct image_upload){ .all = all, .next = all->uploads, .key = copy, .bytes = bytes };
    all->uploads = u;
    images_use(all);
    *ret = u;
    *ret_fd = fd_take(&fd);
    return 0;
}

void images_received(struct image_upload *u)
{
    struct image_upload **at = &u->all->uploads;
    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    images_unuse(u->all);
    free(u->key);
    free(u);
}

/* A new file is on the disk before it has its name, and the name before a row has it. */
static int write_file(int dir_fd, const char *id, int from_fd, uint64_t from, uint64_t bytes,
                      struct image_row *row, int *ret_fd, struct err *e)
{
    char fresh[NAME_SIZE];
    (void)snprintf(fresh, sizeof fresh, "%s.new", id);
    autoclose int fd = openat(dir_fd, fresh, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              0400);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "create the file of an image");
    int rc = copy_and_hash(from_fd, from, fd, bytes, row->digest, e);
    if (rc == 0 && (fsync(fd) < 0 || renameat(dir_fd, fresh, dir_fd, id) < 0 || fsync(dir_fd) < 0))
        rc = err_set(e, ERR_KERNEL, errno, "keep the file of an image");
    autoclose int reader = rc ? -1 : openat(dir_fd, id, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (rc == 0 && reader < 0)
        rc = err_set(e, ERR_KERNEL, errno, "open the file of an image");
    if (rc || look_at(reader, &row->stamp, e)) {
        (void)unlinkat(dir_fd, fresh, 0);
        (void)unlinkat(dir_fd, id, 0);
        return -1;
    }
    *ret_fd = fd_take(&reader);
    return 0;
}

/* ---- to save one ---- */

struct image_saving {
    struct store_job job; /* first: the store returns it */
    uv_work_t work;
    struct images *all;
    struct image_save *save;
    struct saved_image *saved;
    int fd; /* of the file */
    struct err err;
};

static void save_over(struct image_saving *g)
{
    struct image_save *s = g->save;
    struct images *all = g->all;
    struct err e = g->err;
    if (e.code == ERR_NONE && all->freed) { /* the next service finds it */
        saved_free(g->saved);
    } else if (e.code == ERR_NONE) {
        s->image->saved = g->saved;
        (void)snprintf(s->image->id, sizeof s->image->id, "%s", g->saved->row.id);
        g->saved->open = s->image;
        s->saved = g->saved;
        free(g->saved->row.request); /* it is in the database */
        g->saved->row.request = NULL;
        append(all, g->saved);
    } else if (g->saved) {
        (void)unlinkat(all->dir_fd, g->saved->row.id, 0);
        if (!all->freed)
            release_bases(all, g->saved);
        saved_free(g->saved);
    }
    fd_close(&g->fd);
    free(g);
    s->private = NULL;
    s->on_done(s, e.code == ERR_NONE ? NULL : &e);
    job_over(all);
}

/* Images come and go by requests that have records of their own; these tell which files exist. */
static int record_image(struct db *db, const char *kind, const char *id, const struct image_row *r,
                        struct err *e)
{
    autofree char *detail = json_line(r ? json_pack("{s:s, s:s?, s:s?, s:s?, s:I}", "kind", r->kind,
                                                    "name", r->name, "session", r->session, "key",
                                                    r->key, "bytes", (json_int_t)r->bytes)
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
    return images_insert(db, r, e) || record_image(db, "image.saved", r->id, r, e) ? -1 : 0;
}

static void on_row_written(struct store_job *job)
{
    struct image_saving *g = (struct image_saving *)job;
    g->err = job->err;
    if (g->err.code == ERR_NONE) { /* the memory of the image is free from here on */
        int memory = g->save->image->fd;
        g->save->image->fd = g->fd;
        g->fd = memory;
    }
    save_over(g);
}

static void save_work(uv_work_t *work)
{
    struct image_saving *g = work->data;
    struct image_row *row = &g->saved->row;
    (void)!write_file(g->all->dir_fd, row->id, g->save->image->fd, g->save->from,
                      (uint64_t)row->bytes, row, &g->fd, &g->err);
}

static void on_saved(uv_work_t *work, int status)
{
    struct image_saving *g = work->data;
    if ((status < 0 || g->all->freed) && g->err.code == ERR_NONE)
        (void)!err_set(&g->err, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (g->err.code != ERR_NONE) {
        save_over(g);
        return;
    }
    g->job = (struct store_job){ .work = write_row, .done = on_row_written };
    store_write(g->all->store, &g->job);
}

static struct saved_image *saved_new(const struct image_save *s, struct err *e)
{
    struct saved_image *saved = calloc(1, sizeof *saved);
    const struct image_row *r = &s->row;
    char id[ID_SIZE];
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
                                     .cell = r->cell,
                                     .bytes = (int64_t)s->image->bytes,
                                     .created_ms = r->created_ms ? r->created_ms
                                                                 : clock_unix_ms() };
    if (saved->row.id && saved->row.kind && saved->row.language)
        return saved;
    saved_free(saved);
    (void)!err_no_memory(e, "an image");
    return NULL;
}

int images_save(struct images *all, struct image_save *s, struct err *e)
{
    if (images_check_room(all, s->row.key, s->image->bytes, e))
        return -1;
    struct image_saving *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "an image");
    *g = (struct image_saving){ .all = all, .save = s, .fd = -1, .saved = saved_new(s, e) };
    g->work.data = g;
    if (g->saved && link_bases(all, g->saved, e)) {
        release_bases(all, g->saved);
        saved_free(g->saved);
        g->saved = NULL;
    }
    if (!g->saved || uv_queue_work(all->loop, &g->work, save_work, on_saved) != 0) {
        if (g->saved) {
            release_bases(all, g->saved);
            saved_free(g->saved);
            (void)!err_set(e, ERR_UNAVAILABLE, 0, "no thread can write an image: try again");
        }
        free(g);
        return -1;
    }
    all->jobs++;
    s->private = g;
    return 0;
}

/* ---- to load one ---- */

/* One file: of the image, or of a base. */
struct image_part {
    char id[ID_SIZE];
    struct image_stamp stamp;
    uint8_t digest[DIGEST_BYTES];
    int fd;
};

struct image_loading {
    uv_work_t work;
    struct images *all;
    struct image_load *load;
    struct image_part parts[1 + IMAGE_BASES]; /* the image first */
    size_t n_parts;
    struct err err;
};

static int open_checked(int dir_fd, struct image_part *g, struct err *e)
{
    struct image_stamp now;
    uint8_t digest[DIGEST_BYTES];
    g->fd = openat(dir_fd, g->id, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (g->fd < 0)
        return err_set(e, ERR_CONFLICT, 0, "the file of image '%s' cannot be opened: %s", g->id,
                       strerror(errno));
    if (look_at(g->fd, &now, e))
        return -1;
    if (memcmp(&now, &g->stamp, sizeof now) == 0)
        return 0;
    if (now.bytes != g->stamp.bytes)
        return err_set(e, ERR_CONFLICT, 0, "the file of image '%s' has %llu bytes in place of %llu",
                       g->id, (unsigned long long)now.bytes, (unsigned long long)g->stamp.bytes);
    if (copy_and_hash(g->fd, 0, -1, now.bytes, digest, e))
        return -1;
    return memcmp(digest, g->digest, sizeof digest) == 0
               ? 0
               : err_set(e, ERR_CONFLICT, 0, "the file of image '%s' was altered", g->id);
}

static void load_work(uv_work_t *work)
{
    struct image_loading *g = work->data;
    for (size_t i = 0; i < g->n_parts && g->err.code == ERR_NONE; i++)
        (void)!open_checked(g->all->dir_fd, &g->parts[i], &g->err);
}

static struct session_image *image_of(struct image_part *part)
{
    struct session_image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    *image = (struct session_image){ .fd = fd_take(&part->fd),
                                     .refs = 1,
                                     .bytes = part->stamp.bytes };
    (void)snprintf(image->id, sizeof image->id, "%s", part->id);
    return image;
}

/* Others may have loaded it, or removed it, meanwhile. */
static int take_file(struct image_loading *g, struct err *e)
{
    struct saved_image *saved = images_find(g->all, g->parts[0].id);
    if (!saved)
        return err_set(e, ERR_CONFLICT, 0, "image '%s' was deleted", g->parts[0].id);
    if (saved->open) {
        g->load->image = session_image_ref(saved->open);
        return 0;
    }
    struct session_image *image = image_of(&g->parts[0]);
    for (size_t i = 1; image && i < g->n_parts; i++) {
        struct session_image *base = image_of(&g->parts[i]);
        if (!base) {
            session_image_unref(image);
            return err_no_memory(e, "an image");
        }
        image->bases[image->n_bases++] = base;
    }
    if (!image)
        return err_no_memory(e, "an image");
    image->saved = saved;
    saved->open = g->load->image = image;
    return 0;
}

static void on_loaded(uv_work_t *work, int status)
{
    struct image_loading *g = work->data;
    struct image_load *l = g->load;
    struct images *all = g->all;
    struct err e = g->err;
    if (status < 0 && e.code == ERR_NONE)
        (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (e.code == ERR_NONE)
        (void)!take_file(g, &e);
    for (size_t i = 0; i < g->n_parts; i++)
        fd_close(&g->parts[i].fd);
    free(g);
    l->private = NULL;
    l->on_done(l, e.code == ERR_NONE ? NULL : &e);
    job_over(all);
}

static void add_part(struct image_loading *g, const struct saved_image *saved)
{
    struct image_part *part = &g->parts[g->n_parts++];
    *part = (struct image_part){ .stamp = saved->row.stamp, .fd = -1 };
    (void)snprintf(part->id, sizeof part->id, "%s", saved->row.id);
    memcpy(part->digest, saved->row.digest, sizeof part->digest);
}

int images_load(struct images *all, struct saved_image *saved, struct image_load *l, struct err *e)
{
    struct image_loading *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "an image");
    *g = (struct image_loading){ .all = all, .load = l };
    add_part(g, saved);
    for (size_t i = 0; i < saved->n_bases; i++)
        add_part(g, saved->bases[i]);
    g->work.data = g;
    if (uv_queue_work(all->loop, &g->work, load_work, on_loaded) != 0) {
        free(g);
        return err_set(e, ERR_UNAVAILABLE, 0, "no thread can read an image: try again");
    }
    all->jobs++;
    l->private = g;
    return 0;
}

/* ---- to remove one ---- */

struct removal {
    struct store_job job;
    struct images *all;
    char id[ID_SIZE];
};

static int delete_row(struct db *db, struct store_job *job, struct err *e)
{
    const char *id = ((struct removal *)job)->id;
    return images_delete(db, id, e) || record_image(db, "image.removed", id, NULL, e) ? -1 : 0;
}

static int demote_row(struct db *db, struct store_job *job, struct err *e)
{
    return images_demote(db, ((struct removal *)job)->id, e);
}

static void on_row_demoted(struct store_job *job)
{
    struct removal *r = (struct removal *)job;
    struct images *all = r->all;
    if (job->err.code != ERR_NONE)
        log_error(LOG_ERROR, "image.remove", &job->err);
    free(r);
    job_over(all);
}

static void submit(struct images *all, const struct saved_image *saved, struct store_job job)
{
    struct removal *r = calloc(1, sizeof *r);
    if (!r) /* the next start finds it */
        return;
    *r = (struct removal){ .job = job, .all = all };
    (void)snprintf(r->id, sizeof r->id, "%s", saved->row.id);
    all->jobs++;
    store_write(all->store, &r->job);
}

/* The file goes after its row: a crash between the two leaves a file that the next start removes. */
static void on_row_deleted(struct store_job *job)
{
    struct removal *r = (struct removal *)job;
    struct images *all = r->all;
    if (job->err.code != ERR_NONE)
        log_error(LOG_ERROR, "image.remove", &job->err);
    else if (unlinkat(all->dir_fd, r->id, 0) < 0)
        log_event(LOG_WARN, "image.unlink", "id=%s errno=%d", r->id, errno);
    free(r);
    job_over(all);
}

void images_remove(struct images *all, struct saved_image *saved)
{
    bool was_removed = saved->is_removed;
    saved->is_removed = true;
    if (saved->dependents > 0) {
        if (!was_removed) /* nobody becomes it any more, so it needs no base itself */
            submit(all, saved, (struct store_job){ .work = demote_row, .done = on_row_demoted });
        release_bases(all, saved);
        return;
    }
    submit(all, saved, (struct store_job){ .work = delete_row, .done = on_row_deleted });
    release_bases(all, saved);
    unlink_saved(all, saved);
    saved_free(saved);
}

/* ---- all of them ---- */

struct listing {
    struct store_job job;
    struct image_rows rows;
};

static int read_rows(struct db *db, struct store_job *job, struct err *e)
{
    return images_list(db, &((struct listing *)job)->rows, e);
}

static void on_rows(struct store_job *job)
{
    (void)job;
}

static int take_rows(struct images *all, struct image_rows *rows, struct err *e)
{
    for (size_t i = 0; i < rows->n; i++) {
        struct saved_image *s = calloc(1, sizeof *s);
        if (!s)
            return err_no_memory(e, "the images");
        s->row = rows->rows[i];
        rows->rows[i] = (struct image_row){ 0 };
        append(all, s);
    }
    return 0;
}

/* Bases that nobody needs go. An image without its base stays in the list: to load it fails. */
static void link_all(struct images *all)
{
    struct err e;
    struct saved_image *next;
    for (struct saved_image *s = all->first; s; s = s->next) {
        s->is_removed = strcmp(s->row.kind, "base") == 0;
        if (!s->is_removed && link_bases(all, s, &e))
            log_error(LOG_WARN, "image.base", &e);
    }
    for (struct saved_image *s = all->first; s; s = next) {
        next = s->next;
        if (s->is_removed && s->dependents == 0)
            images_remove(all, s);
    }
}

/* Rows without a file: somebody removed it. */
static void sweep_rows(struct images *all)
{
    struct saved_image *next;
    struct stat st;
    for (struct saved_image *s = all->first; s; s = next) {
        next = s->next;
        if (fstatat(all->dir_fd, s->row.id, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT) {
            log_event(LOG_WARN, "image.lost", "id=%s", s->row.id);
            images_remove(all, s);
        }
    }
}

int images_open(struct images **ret, uv_loop_t *loop, struct store *store, int dir_fd,
                const struct images_limits *limits, struct err *e)
{
    struct images *all = calloc(1, sizeof *all);
    if (!all) {
        fd_close(&dir_fd);
        return err_no_memory(e, "the images");
    }
    *all = (struct images){ .loop = loop, .store = store, .dir_fd = dir_fd, .limits = *limits };
    all->end = &all->first;
    struct listing list = { .job = { .work = read_rows, .done = on_rows } };
    store_read(store, &list.job);
    store_wait(store);
    int rc = list.job.err.code == ERR_NONE ? take_rows(all, &list.rows, e) : -1;
    if (list.job.err.code != ERR_NONE)
        *e = list.job.err;
    image_rows_done(&list.rows);
    if (rc) {
        images_free(all);
        return -1;
    }
    images_sweep(all->dir_fd, all->first);
    link_all(all);
    sweep_rows(all);
    *ret = all;
    return 0;
}

void images_set_limits(struct images *all, const struct images_limits *limits)
{
    all->limits = *limits;
}

void images_free(struct images *all)
{
    if (!all)
        return;
    for (struct saved_image *next, *s = all->first; s; s = next) {
        next = s->next;
        saved_free(s);
    }
    all->first = NULL;
    all->end = &all->first;
    all->freed = true;
    all->jobs++;
    job_over(all);
}
