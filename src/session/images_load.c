/* From a file to an image that a program may become. A folded file is unfolded into sealed memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "session/images_impl.h"
#include "session/session_impl.h"

/* One file: of the image, or of a base. */
struct image_part {
    char id[ID_SIZE];
    struct image_stamp stamp;
    uint8_t digest[DIGEST_BYTES];
    uint64_t bytes; /* of the image in it */
    struct fold_form form;
    struct session_image *image; /* a base that is in memory already */
    int fd;
};

struct image_loading {
    uv_work_t work;
    struct images *all;
    struct image_load *first;                 /* all that wait for it */
    struct image_part parts[1 + IMAGE_BASES]; /* the image first */
    size_t n_parts;
    uint64_t memory; /* that its unfolded files take; reserved until they are there */
    struct err err;
};

/* ---- the files ---- */

static int altered(const struct image_part *g, struct err *e)
{
    return err_set(e, ERR_CONFLICT, 0, "the file of image '%s' was altered", g->id);
}

/* The digest of the bytes that are unfolded is compared before anybody gets them. */
static int unfold_part(const struct images *all, struct image_part *g, struct err *e)
{
    struct fold f = { .from_fd = g->fd,
                      .stored = g->stamp.bytes,
                      .bytes = g->bytes,
                      .form = g->form,
                      .keys = &all->keys,
                      .id = g->id };
    autoclose int memory = -1;
    if (unfold_to_memory(&f, &memory, e))
        return -1;
    if (!g->form.key[0] && memcmp(f.digest, g->digest, sizeof f.digest) != 0)
        return altered(g, e);
    fd_close(&g->fd);
    g->fd = fd_take(&memory);
    return 0;
}

static int open_checked(const struct images *all, struct image_part *g, struct err *e)
{
    struct image_stamp now;
    uint8_t digest[DIGEST_BYTES];
    g->fd = openat(all->dir_fd, g->id, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (g->fd < 0)
        return err_set(e, ERR_CONFLICT, 0, "the file of image '%s' cannot be opened: %s", g->id,
                       strerror(errno));
    if (image_stamp_of(g->fd, &now, e))
        return -1;
    if (now.bytes != g->stamp.bytes)
        return err_set(e, ERR_CONFLICT, 0, "the file of image '%s' has %llu bytes in place of %llu",
                       g->id, (unsigned long long)now.bytes, (unsigned long long)g->stamp.bytes);
    if (!fold_is_plain(&g->form))
        return unfold_part(all, g, e);
    if (memcmp(&now, &g->stamp, sizeof now) == 0)
        return 0;
    if (images_digest(g->fd, now.bytes, digest, e))
        return -1;
    return memcmp(digest, g->digest, sizeof digest) == 0 ? 0 : altered(g, e);
}

static void load_work(uv_work_t *work)
{
    struct image_loading *g = work->data;
    for (size_t i = 0; i < g->n_parts && g->err.code == ERR_NONE; i++)
        if (!g->parts[i].image)
            (void)!open_checked(g->all, &g->parts[i], &g->err);
}

/* ---- the image ---- */

static struct session_image *image_of(struct image_part *part)
{
    struct session_image *image = part->image;
    part->image = NULL;
    if (image)
        return image;
    image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    *image = (struct session_image){ .fd = fd_take(&part->fd), .refs = 1, .bytes = part->bytes };
    (void)snprintf(image->id, sizeof image->id, "%s", part->id);
    return image;
}

/* Others may have opened it, or removed it, meanwhile. The caller has a reference. */
static int take_files(struct image_loading *g, struct session_image **ret, struct err *e)
{
    struct saved_image *saved = images_find(g->all, g->parts[0].id);
    if (!saved)
        return err_set(e, ERR_CONFLICT, 0, "image '%s' was deleted", g->parts[0].id);
    saved->loading = NULL;
    if (saved->open) {
        *ret = session_image_ref(saved->open);
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
    saved->open = *ret = image;
    return 0;
}

static void loading_free(struct image_loading *g)
{
    for (size_t i = 0; i < g->n_parts; i++) {
        fd_close(&g->parts[i].fd);
        session_image_unref(g->parts[i].image);
    }
    free(g);
}

static void on_loaded(uv_work_t *work, int status)
{
    struct image_loading *g = work->data;
    struct images *all = g->all;
    struct image_load *next, *list = g->first;
    struct session_image *image = NULL;
    struct err e = g->err;
    struct saved_image *saved = images_find(all, g->parts[0].id);
    all->unfolding -= g->memory;
    if (saved)
        saved->loading = NULL;
    if (status < 0 && e.code == ERR_NONE)
        (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (e.code == ERR_NONE)
        (void)!take_files(g, &image, &e);
    loading_free(g);
    for (struct image_load *l = list; l; l = next) {
        next = l->next;
        l->private = NULL;
        l->image = session_image_ref(image);
        l->on_done(l, e.code == ERR_NONE ? NULL : &e);
    }
    session_image_unref(image);
    images_job_over(all);
}

/* ---- the request ---- */

static int add_part(struct image_loading *g, const struct saved_image *saved, struct err *e)
{
    struct image_part *part = &g->parts[g->n_parts++];
    *part = (struct image_part){ .stamp = saved->row.stamp,
                                 .bytes = (uint64_t)saved->row.bytes,
                                 .fd = -1 };
    (void)snprintf(part->id, sizeof part->id, "%s", saved->row.id);
    memcpy(part->digest, saved->row.digest, sizeof part->digest);
    if (fold_form_parse(saved->row.form, &part->form, e))
        return -1;
    if (g->n_parts > 1 && !fold_is_plain(&part->form))
        part->image = session_image_ref(saved->open);
    return 0;
}

/* Memory that the unfolded files will take. */
static uint64_t memory_for(const struct image_loading *g)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < g->n_parts; i++)
        if (!g->parts[i].image && !fold_is_plain(&g->parts[i].form))
            sum += g->parts[i].bytes;
    return sum;
}

static int prepare(struct image_loading *g, const struct saved_image *saved, struct err *e)
{
    if (add_part(g, saved, e))
        return -1;
    for (size_t i = 0; i < saved->n_bases; i++)
        if (add_part(g, saved->bases[i], e))
            return -1;
    g->memory = memory_for(g);
    return g->memory > 0 ? images_check_memory(g->all, g->memory, e) : 0;
}

int images_load(struct images *all, struct saved_image *saved, struct image_load *l, struct err *e)
{
    if (saved->loading) { /* one reads, and all get its image */
        l->next = saved->loading->first;
        l->private = saved->loading;
        saved->loading->first = l;
        return 0;
    }
    struct image_loading *g = calloc(1, sizeof *g);
    if (!g)
        return err_no_memory(e, "an image");
    *g = (struct image_loading){ .all = all, .first = l };
    l->next = NULL;
    g->work.data = g;
    if (prepare(g, saved, e)) {
        loading_free(g);
        return -1;
    }
    if (uv_queue_work(all->loop, &g->work, load_work, on_loaded) != 0) {
        loading_free(g);
        return err_set(e, ERR_UNAVAILABLE, 0, "no thread can read an image: try again");
    }
    all->jobs++;
    all->unfolding += g->memory;
    l->private = saved->loading = g;
    return 0;
}
