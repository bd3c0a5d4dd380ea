/* image/earlier.h — the files in earlier images, and the layout of the entries (image/files.h).
 * Runs in: a session program. */
#pragma once

#include <limits.h>

#include "image/image.h"

enum { FILE_NAME_MAX = PATH_MAX };
enum file_kind {
    FILE_END,
    FILE_REGULAR,
    FILE_FOLDER,
    FILE_LINK,
    FILE_FIFO,
    FILE_SHARED,
    FILE_NAME, /* a further name of a file */
    FILE_KINDS
};
/* In the mode: pages of zeros in it are holes. */
#define FILE_HAS_HOLES (1U << 31)

struct [[gnu::packed]] file_entry {
    uint8_t kind;
    uint32_t mode;
    int64_t changed;
    uint64_t bytes;
    uint32_t name_bytes;
};

/* Follows the name of a FILE_SHARED. */
struct [[gnu::packed]] file_place {
    struct image_id id;
    uint64_t at;
};

/* Where an earlier image has the bytes of a file. */
struct file_source {
    int fd;
    uint64_t at;
    struct image_id id;
};

/* A walk over the entries of the newest base, in step with one over the files. */
struct earlier_files {
    struct image_bases *bases;
    bool is_over;
    uint64_t at; /* of the next entry */
    struct file_entry entry;
    struct file_place place;
    char name[FILE_NAME_MAX];
};

void earlier_open(struct earlier_files *f, struct image_bases *bases);
/* Whether the newest base has a file of this name and size. The names come in the order of the walk:
 * folders before their contents, and names of one folder in the order of their bytes. */
bool earlier_find(struct earlier_files *f, const char *name, uint64_t bytes,
                  struct file_source *ret);
void earlier_use(struct earlier_files *f, const struct file_source *source);
