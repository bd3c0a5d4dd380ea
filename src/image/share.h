/* image/share.h — which pages of a process are in earlier images already.
 * Runs in: the child that writes an image, where a crash harms nobody else. */
#pragma once

#include "image/maps.h"

struct image_share {
    struct {
        const char *bytes; /* NULL: it cannot be used */
        uint64_t size, device, inode;
        struct image_id id;
    } files[IMAGE_BASES_MAX];
    size_t n;
    /* The runs of the newest base, in the order of their addresses. */
    const struct image_run *runs;
    size_t n_runs, next;
    int file_of[IMAGE_BASES_MAX + 1]; /* from the `file` of its run to an index of files; -1 */
};

/* Maps the bases. The mappings of this process have been read already. */
void image_share_open(struct image_share *s, const struct image_bases *bases);
/* The number of the file from which the pages of this mapping come, or 0. */
uint32_t image_share_origin(const struct image_share *s, const struct image_map *m);
/* The place of the page at this address in the newest base: the number of its file, or 0. Addresses
 * only grow from call to call. */
uint32_t image_share_find(struct image_share *s, uint64_t address, uint64_t *ret_at);
static inline const char *image_share_page(const struct image_share *s, uint32_t file, uint64_t at)
{
    return s->files[file - 1].bytes + at;
}
