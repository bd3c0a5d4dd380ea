/* image/format.h — the layout of an image. Runs in: a session program.
 *
 *   0        struct image_front, written last
 *   4096     bytes of the caller
 *   head_at  struct image_head; the pages of the runs; then the maps, the runs and the names */
#pragma once

#include <stdint.h>

#include "image/image.h"

enum { IMAGE_PAGE = 4096, IMAGE_HEAD_BYTES = IMAGE_PAGE };
static inline uint64_t image_whole_pages(uint64_t bytes)
{
    return (bytes + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
}
enum { IMAGE_MAPS_MAX = 32768, IMAGE_RUNS_MAX = 65536, IMAGE_NAMES_MAX = 4 << 20 };
#define IMAGE_MAGIC "BJIMAGE1"

struct image_front {
    char magic[8];
    uint64_t head_at, bytes;
};

enum image_kind { IMAGE_ANONYMOUS, IMAGE_FILE, IMAGE_OF_KERNEL, IMAGE_LEFT_OUT };

/* One mapping of memory. */
struct image_map {
    uint64_t start, end, offset;
    uint64_t device, inode, size, changed; /* of a file: it must be the same one later */
    uint32_t kind, prot, name;
    uint8_t shared, heap, stack;
    uint8_t whole; /* every page is in the image, not only private ones */
};

/* Neighbouring pages in the image. */
struct image_run {
    uint64_t start, bytes, at;
};

struct image_context;
struct image_head {
    struct image_context *context; /* in the image's own memory */
    uint64_t thread_pointer;
    uint64_t n_maps, maps_at, n_runs, runs_at, names_bytes, names_at;
    uint64_t kernel_code; /* a digest of the vDSO */
};
