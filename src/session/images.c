#include "session/images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/text.h"
#include "engine/pools/pools.h"
#include "run/json.h"
#include "session/images_impl.h"
#include "session/session_impl.h"

/* ---- the list ---- */

struct saved_image *images_first(const struct images *all)
{
    return all->first;
}

/* FNV-1a. Ids are random, and ours. */
static size_t bucket_of(const char *id, size_t n_buckets)
{
    uint64_t h = 14695981039346656037ULL;
    for (; *id; id++)
        h = (h ^ (unsigned char)*id) * 1099511628211ULL;
    return (size_t)(h % n_buckets);
}

struct saved_image *images_find(const struct images *all, const char *id)
{
    struct saved_image *s = all->n ? all->buckets[bucket_of(id, all->n_buckets)] : NULL;
    while (s && strcmp(s->row.id, id) != 0)
        s = s->same_bucket;
    return s;
}

struct saved_image *images_of_session(const struct images *all, const char *session,
                                      const struct saved_image *after)
{
    struct saved_image *s = after    ? after->same_session
                            : all->n ? all->buckets_of_session[bucket_of(session, all->n_buckets)]
                                     : NULL;
    while (s && (!s->row.session || strcmp(s->row.session, session) != 0))
        s = s->same_session;
    return s;
}

static struct saved_image **session_bucket(const struct images *all, const struct saved_image *s)
{
    const char *session = s->row.session ? s->row.session : "";
    return &all->buckets_of_session[bucket_of(session, all->n_buckets)];
}

static void put_in_buckets(struct images *all, struct saved_image *s)
{
    struct saved_image **at = &all->buckets[bucket_of(s->row.id, all->n_buckets)];
    s->same_bucket = *at;
    *at = s;
    at = session_bucket(all, s);
    s->same_session = *at;
    *at = s;
}

static void take_out_of_buckets(struct images *all, const struct saved_image *s)
{
    struct saved_image **at = &all->buckets[bucket_of(s->row.id, all->n_buckets)];
    while (*at != s)
        at = &(*at)->same_bucket;
    *at = s->same_bucket;
    at = session_bucket(all, s);
    while (*at != s)
        at = &(*at)->same_session;
    *at = s->same_session;
}

static int grow(struct images *all, struct err *e)
{
    size_t n = all->n_buckets ? 2 * all->n_buckets : 64;
    struct saved_image **by_id = calloc(n, sizeof(void *)),
                       **by_session = calloc(n, sizeof(void *));
    if (!by_id || !by_session) {
        free(by_id);
        free(by_session);
        return err_no_memory(e, "the images");
    }
    free(all->buckets);
    free(all->buckets_of_session);
    all->buckets = by_id;
    all->buckets_of_session = by_session;
    all->n_buckets = n;
    for (struct saved_image *s = all->first; s; s = s->next)
        put_in_buckets(all, s);
    return 0;
}

static bool is_of_key(const char *owner, const char *key)
{
    return key ? owner && strcmp(owner, key) == 0 : !owner;
}

/* A program whose end was asked for lets go of its file in a moment: the kernel only needs the time to
 * end it. So a request that follows the deletion of a session finds its room free. */
static uint64_t bytes_of_room(const struct image_room *r)
{
    return r->open && r->open->leaving == r->open->refs ? 0 : r->bytes;
}

uint64_t images_bytes_of(const struct images *all, const char *key)
{
    uint64_t sum = 0;
    for (const struct saved_image *s = all->first; s; s = s->next)
        sum += is_of_key(s->row.key, key) ? s->row.stamp.bytes : 0;
    for (const struct image_room *r = all->rooms; r; r = r->next)
        sum += is_of_key(r->key, key) ? bytes_of_room(r) : 0;
    return sum;
}

uint64_t images_bytes(const struct images *all)
{
    uint64_t sum = 0;
    for (const struct saved_image *s = all->first; s; s = s->next)
        sum += s->row.stamp.bytes;
    for (const struct image_room *r = all->rooms; r; r = r->next)
        sum += bytes_of_room(r);
    return sum;
}

static uint64_t mib(uint64_t bytes)
{
    return (bytes + (1 << 20) - 1) >> 20;
}

int images_check_room(const struct images *all, const char *key, uint64_t bytes, struct err *e)
{
    uint64_t own = images_bytes_of(all, key), sum = images_bytes(all);
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
    return 0;
}

int images_check_disk(const struct images *all, uint64_t bytes, struct err *e)
{
    struct statvfs disk;
    uint64_t arriving = 0;
    for (const struct image_room *r = all->rooms; r; r = r->next)
        arriving += r->on_disk ? 0 : r->bytes;
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

int images_check_memory(const struct images *all, uint64_t bytes, struct err *e)
{
    struct pools_memory memory = pools_memory_read();
    uint64_t promised = all->unfolding;
    for (const struct image_room *r = all->rooms; r; r = r->next)
        promised += r->in_memory ? r->bytes : 0;
    if (memory.total == 0 || memory.available >= all->limits.memory_floor + promised + bytes)
        return 0;
    return err_set(
        e, ERR_BUSY, 0,
        "memory is short: an image of %llu MiB must be unfolded, and %llu MiB are "
        "available, of which images that arrive or are being unfolded need %llu: try again "
        "later",
        (unsigned long long)mib(bytes), (unsigned long long)mib(memory.available),
        (unsigned long long)mib(promised));
}

int images_append(struct images *all, struct saved_image *s, struct err *e)
{
    if (all->n >= all->n_buckets && grow(all, e))
        return -1;
    put_in_buckets(all, s);
    s->next = NULL;
    s->previous = all->last;
    *(all->last ? &all->last->next : &all->first) = s;
    all->last = s;
    all->n++;
    return 0;
}

void saved_image_free(struct saved_image *s)
{
    if (s->open)
        s->open->saved = NULL;
    image_row_done(&s->row);
    free(s);
}

static void unlink_saved(struct images *all, struct saved_image *s)
{
    take_out_of_buckets(all, s);
    *(s->previous ? &s->previous->next : &all->first) = s->next;
    *(s->next ? &s->next->previous : &all->last) = s->previous;
    all->n--;
}

void images_job_over(struct images *all)
{
    if (--all->jobs > 0 || !all->freed)
        return;
    fd_close(&all->dir_fd);
    image_keys_done(&all->keys);
    free(all->buckets);
    free(all->buckets_of_session);
    free(all);
}

void images_use(struct images *all)
{
    all->jobs++;
}

void images_unuse(struct images *all)
{
    images_job_over(all);
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

void images_release_bases(struct images *all, struct saved_image *s)
{
    size_t n = s->n_bases;
    s->n_bases = 0;
    for (size_t i = 0; i < n; i++)
        release(all, s->bases[i]);
}

int images_link_bases(struct images *all, struct saved_image *s, struct err *e)
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

/* ---- room ---- */

int images_take_room(struct images *all, const char *key, uint64_t bytes, bool on_disk,
                     struct image_room **ret, struct err *e)
{
    struct image_room *r = calloc(1, sizeof *r);
    char *copy = text_copy(key);
    if (!r || (key && !copy)) {
        free(r);
        free(copy);
        return err_no_memory(e, "an image");
    }
    *r = (struct image_room){
        .all = all, .next = all->rooms, .key = copy, .bytes = bytes, .on_disk = on_disk
    };
    all->rooms = r;
    images_use(all);
    *ret = r;
    return 0;
}

void images_give_room(struct image_room *r)
{
    struct image_room **at = &r->all->rooms;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    images_unuse(r->all);
    free(r->key);
    free(r);
}

uint64_t image_room_bytes(const struct image_room *r)
{
    return r ? r->bytes : 0;
}

/* Where images are encrypted, bytes that arrive stay in memory. */
static int make_file(struct images *all, struct err *e)
{
    char id[ID_SIZE];
    id_make("img_", id);
    if (all->keys.n > 0) {
        int memory = memfd_create("image", MFD_CLOEXEC);
        return memory < 0 ? err_set(e, ERR_KERNEL, errno, "make memory for an image") : memory;
    }
    int fd = openat(all->dir_fd, id, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    if (fd < 0 || unlinkat(all->dir_fd, id, 0) < 0) {
        (void)!err_set(e, ERR_KERNEL, errno, "create the file of an image");
        fd_close(&fd);
    }
    return fd;
}

int images_receive(struct images *all, const char *key, uint64_t bytes, struct image_room **ret,
                   int *ret_fd, struct err *e)
{
    if (!all->is_listed)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the service has just started, and reads its list of images: try again");
    if (images_check_room(all, key, bytes, e) || images_check_disk(all, bytes, e) ||
        (all->keys.n > 0 && images_check_memory(all, bytes, e)))
        return -1;
    autoclose int fd = make_file(all, e);
    if (fd < 0 || images_take_room(all, key, bytes, false, ret, e))
        return -1;
    (*ret)->in_memory = all->keys.n > 0;
    *ret_fd = fd_take(&fd);
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
    return images_delete(db, id, e) || image_record(db, "image.removed", id, NULL, e) ? -1 : 0;
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
    images_job_over(all);
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
    images_job_over(all);
}

/* A file that a program has open takes its blocks until then, without a name. */
static void count_open_file(struct images *all, const struct saved_image *saved)
{
    struct session_image *open = saved->open;
    struct err e = { 0 };
    if (!open || open->room || saved->row.form)
        return;
    if (images_take_room(all, saved->row.key, saved->row.stamp.bytes, true, &open->room, &e))
        log_error(LOG_WARN, "image.count", &e);
    else
        open->room->open = open;
}

void images_remove(struct images *all, struct saved_image *saved)
{
    bool was_removed = saved->is_removed;
    saved->is_removed = true;
    if (saved->dependents > 0) {
        if (!was_removed) /* nobody becomes it any more, so it needs no base itself */
            submit(all, saved, (struct store_job){ .work = demote_row, .done = on_row_demoted });
        images_release_bases(all, saved);
        return;
    }
    submit(all, saved, (struct store_job){ .work = delete_row, .done = on_row_deleted });
    count_open_file(all, saved);
    images_release_bases(all, saved);
    unlink_saved(all, saved);
    saved_image_free(saved);
}

/* ---- all of them ---- */

/* The rows and the names of the files are read in a thread of the store. */
struct listing {
    struct store_job job; /* first: the store returns it */
    struct images *all;
    struct saved_image *first;
    bool seen; /* all files */
    void (*on_done)(void *context, const struct err *e);
    void *context;
};

static int chain_rows(struct image_rows *rows, struct saved_image **ret, struct err *e)
{
    for (size_t i = rows->n; i-- > 0;) {
        struct saved_image *s = calloc(1, sizeof *s);
        if (!s)
            return err_no_memory(e, "the images");
        s->row = rows->rows[i];
        rows->rows[i] = (struct image_row){ 0 };
        s->next = *ret;
        *ret = s;
    }
    return 0;
}

static int read_rows(struct db *db, struct store_job *job, struct err *e)
{
    struct listing *l = (struct listing *)job;
    scoped(image_rows) rows = { 0 };
    if (images_list(db, &rows, e) || chain_rows(&rows, &l->first, e))
        return -1;
    l->seen = images_sweep(l->all->dir_fd, l->first);
    return 0;
}

static int take_rows(struct images *all, struct listing *l, struct err *e)
{
    while (l->first) {
        struct saved_image *s = l->first, *next = s->next;
        if (images_append(all, s, e))
            return -1;
        l->first = next;
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
        if (!s->is_removed && images_link_bases(all, s, &e))
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
    for (struct saved_image *s = all->first; s; s = next) {
        next = s->next;
        if (!s->has_file) {
            log_event(LOG_WARN, "image.lost", "id=%s", s->row.id);
            images_remove(all, s);
        }
    }
}

static void forget_all(struct images *all)
{
    for (struct saved_image *next, *s = all->first; s; s = next) {
        next = s->next;
        saved_image_free(s);
    }
    free(all->buckets);
    free(all->buckets_of_session);
    all->buckets = all->buckets_of_session = NULL;
    all->first = all->last = NULL;
    all->n = all->n_buckets = 0;
}

static void on_rows(struct store_job *job)
{
    struct listing *l = (struct listing *)job;
    struct images *all = l->all;
    struct err e = job->err;
    if (e.code == ERR_NONE && all->freed)
        (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (e.code == ERR_NONE && take_rows(all, l, &e))
        forget_all(all);
    if (e.code == ERR_NONE) {
        all->is_listed = true;
        link_all(all);
        if (l->seen)
            sweep_rows(all);
    }
    for (struct saved_image *next; l->first; l->first = next) {
        next = l->first->next;
        saved_image_free(l->first);
    }
    l->on_done(l->context, e.code == ERR_NONE ? NULL : &e);
    free(l);
    images_job_over(all);
}

int images_search(struct images *all, void (*on_done)(void *context, const struct err *e),
                  void *context, struct err *e)
{
    struct listing *l = calloc(1, sizeof *l);
    if (!l)
        return err_no_memory(e, "the images");
    *l = (struct listing){ .job = { .work = read_rows, .done = on_rows },
                           .all = all,
                           .on_done = on_done,
                           .context = context };
    images_use(all);
    store_read(all->store, &l->job);
    return 0;
}

bool images_are_listed(const struct images *all)
{
    return all->is_listed;
}

int images_open(struct images **ret, uv_loop_t *loop, struct store *store, int dir_fd,
                const struct images_limits *limits, const struct image_keys *keys, struct err *e)
{
    struct images *all = calloc(1, sizeof *all);
    if (!all) {
        fd_close(&dir_fd);
        return err_no_memory(e, "the images");
    }
    *all = (struct images){
        .loop = loop, .store = store, .dir_fd = dir_fd, .limits = *limits, .keys = *keys
    };
    *ret = all;
    return 0;
}

bool images_compress(const struct images *all)
{
    return all->limits.compress;
}

size_t images_without_key(const struct images *all)
{
    size_t n = 0;
    for (const struct saved_image *s = all->first; s; s = s->next) {
        struct fold_form form;
        struct err e;
        if (s->row.form && (fold_form_parse(s->row.form, &form, &e) ||
                            (form.key[0] && !image_keys_find(&all->keys, form.key))))
            n++;
    }
    return n;
}

void images_set_limits(struct images *all, const struct images_limits *limits)
{
    all->limits = *limits;
}

void images_free(struct images *all)
{
    if (!all)
        return;
    forget_all(all);
    all->freed = true;
    all->jobs++;
    images_job_over(all);
}
