/* session/images.h — images that outlive the memory of their session: files in STATE/data/images,
 * and one row of the database for each.
 * Runs in: keeper, on its loop. Worker threads of libuv copy and hash.
 *
 * Invariants
 * STORED-1 A file is complete, on the disk and read-only before a row names it. Files without a row,
 *          and rows without a file, are removed at the start.
 * STORED-2 The bytes of an image are copied and hashed, and never interpreted.
 * STORED-3 A program gets the file of a row only if nobody has touched the file since it was written
 *          (struct image_stamp), or if its digest is that of the row. A folded file
 *          is unfolded into sealed memory, and every byte of it is checked.
 * STORED-4 The bytes of the images of one key, and of all keys, are bounded, also while they are
 *          written and while a program has a removed file open. The disk keeps
 *          `min_free` bytes.
 * STORED-5 A base of an image lives as long as the image.
 * STORED-6 With a key of the operator, no byte of an image is on the disk unencrypted. */
#pragma once

#include <jansson.h>
#include <uv.h>

#include "base/id.h"
#include "session/fold.h"
#include "store/image_rows.h"
#include "store/store.h"

struct session_image;
struct images;

enum { IMAGE_BASES = 8 }; /* the most that an image has; IMAGE_BASES_MAX of the programs */

struct images_limits {
    uint64_t max_bytes, max_bytes_per_key;
    uint64_t min_free;     /* on the disk */
    uint64_t memory_floor; /* no file is unfolded with less memory available beyond its size */
    bool compress; /* sessions that sleep are compressed, unless their client says otherwise */
};

/* One file with its row. */
struct saved_image {
    struct image_row row;
    struct saved_image *next;
    struct saved_image *previous, *same_bucket, *same_session; /* private */
    struct image_loading *loading;                             /* while it is read; private */
    struct session_image *open; /* while programs may get it; NULL: its file is closed */
    unsigned dependents;        /* images that have it as a base, and pins */
    bool has_file;              /* at the start; private */
    bool has_sleeper;           /* at the start: a session sleeps in it */
    bool is_removed;            /* and stays only for its dependents: its kind is "base" */
    struct saved_image *bases[IMAGE_BASES];
    size_t n_bases;
};

/* Takes over dir_fd. The list is empty until images_search() is done. */
[[nodiscard]] int images_open(struct images **ret, uv_loop_t *loop, struct store *store, int dir_fd,
                              const struct images_limits *limits, const struct image_keys *keys,
                              struct err *e);
/* Reads the rows, in a thread of the store, and removes files without a row. on_done() follows, with
 * e NULL if the list is complete. Nothing is saved or removed before. */
[[nodiscard]] int images_search(struct images *all,
                                void (*on_done)(void *context, const struct err *e), void *context,
                                struct err *e);
bool images_are_listed(const struct images *all);
void images_set_limits(struct images *all, const struct images_limits *limits);
/* Before the store is closed. Jobs that have begun end later. */
void images_free(struct images *all);

/* The oldest one; then `next`. Look at is_removed. */
struct saved_image *images_first(const struct images *all);
/* The newest one of this session that comes before `after`; NULL: the newest of all. Look at
 * is_removed. */
struct saved_image *images_of_session(const struct images *all, const char *session,
                                      const struct saved_image *after);
/* NULL: there is none. */
struct saved_image *images_find(const struct images *all, const char *id);
bool images_compress(const struct images *all);
/* Images that are encrypted with a key that is not there. */
size_t images_without_key(const struct images *all);
/* On the disk: of one key, or of all callers without a key. With the bytes that are being saved or
 * arrive, and with files that were removed while a program has them open whose end nobody asked for. */
uint64_t images_bytes_of(const struct images *all, const char *key);
uint64_t images_bytes(const struct images *all);
/* Whether so many bytes more of this key fit. ERR_STORAGE_FULL with the numbers. */
[[nodiscard]] int images_check_room(const struct images *all, const char *key, uint64_t bytes,
                                    struct err *e);

/* Whether the disk has room for so many bytes more. */
[[nodiscard]] int images_check_disk(const struct images *all, uint64_t bytes, struct err *e);

/* A file without a name for so many bytes that arrive. They count as those of an image until
 * images_give_room(), which the caller must call. */
struct image_room;
[[nodiscard]] int images_receive(struct images *all, const char *key, uint64_t bytes,
                                 struct image_room **ret, int *ret_fd, struct err *e);
void images_give_room(struct image_room *r);
uint64_t image_room_bytes(const struct image_room *r); /* NULL: 0 */
/* As in the rows. Runs in: any thread. */
[[nodiscard]] int images_digest(int fd, uint64_t bytes, uint8_t ret[DIGEST_BYTES], struct err *e);

/* From the image of a capture to a file with a row. */
struct image_save {
    /* e NULL: `saved` is there, and the image reads from the file. The owner may free it now. */
    void (*on_done)(struct image_save *s, const struct err *e);
    struct session_image *image; /* a reference of the owner */
    bool compress;
    uint64_t frees; /* bytes of the same key that are free afterwards */
    /* Bytes from outside, which are unfolded: `stored` bytes of the file of the image. */
    bool arrives;
    uint64_t from, stored;
    struct fold_form arrived;
    /* key to detail, request and cell: copied. Also id and created_ms, if given. */
    struct image_row row;
    struct saved_image *saved;    /* NULL if it is only in memory */
    bool in_memory;               /* it arrived, and images are encrypted: it has no file */
    uint8_t digest[DIGEST_BYTES]; /* of the row; of the image, if it arrived */
    struct image_saving *private;
};
[[nodiscard]] int images_save(struct images *all, struct image_save *s, struct err *e);

/* From a file to an image that a program may become. */
struct image_load {
    /* e NULL: `image` is there, and the owner has its reference. The owner may free it now.
     * ERR_CONFLICT: the file is not the one that was written. ERR_UNAVAILABLE: its key is missing. */
    void (*on_done)(struct image_load *l, const struct err *e);
    struct session_image *image;
    struct image_loading *private;
    struct image_load *next; /* private */
};
[[nodiscard]] int images_load(struct images *all, struct saved_image *saved, struct image_load *l,
                              struct err *e);

/* The image with this id, if any, stays for a capture that has it as a base. */
void images_pin(struct images *all, const char *id);
void images_unpin(struct images *all, const char *id);
/* The list itself stays, though without images, until images_unuse(). */
void images_use(struct images *all);
void images_unuse(struct images *all);

/* Removes its row and its file. A program that has the image keeps it. If other images need its
 * bytes, the file stays for them. */
void images_remove(struct images *all, struct saved_image *saved);
