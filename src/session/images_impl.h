/* session/images_impl.h — the parts of the list of images that its files share.
 * Runs in: keeper. */
#pragma once

#include "session/fold.h"
#include "session/images.h"

struct images {
    uv_loop_t *loop;
    struct store *store;
    int dir_fd;
    struct images_limits limits;
    struct image_keys keys;
    struct saved_image *first, *last;
    struct saved_image **buckets;            /* by id */
    struct saved_image **buckets_of_session; /* by the id of the session, the newest first */
    size_t n_buckets, n;
    struct image_room *rooms;
    uint64_t unfolding; /* bytes of memory that files which are unfolded now will take */
    unsigned jobs;      /* that still refer to this */
    bool is_listed;     /* every row is in the list */
    bool freed;
};

/* Bytes that have no row, or none any longer, and count as those of an image. */
struct image_room {
    struct images *all;
    struct image_room *next;
    char *key;
    uint64_t bytes;
    bool on_disk;                     /* they are written already */
    bool in_memory;                   /* they arrive, and images are encrypted */
    const struct session_image *open; /* the file of an image that was removed; NULL: another */
};
[[nodiscard]] int images_take_room(struct images *all, const char *key, uint64_t bytes,
                                   bool on_disk, struct image_room **ret, struct err *e);

/* ---- images.c ---- */
[[nodiscard]] int images_append(struct images *all, struct saved_image *s, struct err *e);
void images_job_over(struct images *all);
void saved_image_free(struct saved_image *s);
/* `bases` of the row, as pointers. */
[[nodiscard]] int images_link_bases(struct images *all, struct saved_image *s, struct err *e);
void images_release_bases(struct images *all, struct saved_image *s);
/* Whether so many bytes more fit into the memory, beside those of `unfolding`. ERR_BUSY. */
[[nodiscard]] int images_check_memory(const struct images *all, uint64_t bytes, struct err *e);

/* ---- images_save.c ---- */
[[nodiscard]] int image_stamp_of(int fd, struct image_stamp *ret, struct err *e);
/* The record of an image in the audit log. r NULL: it is removed. */
[[nodiscard]] int image_record(struct db *db, const char *kind, const char *id,
                               const struct image_row *r, struct err *e);
