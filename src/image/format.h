/* image/format.h — the layout of an image. Runs in: a session program.
 *
 *   0        struct image_front, written last
 *   4096     bytes of the caller
 *   head_at  struct image_head; the pages of the runs; then the maps, the runs and the names
 *
 * A run may lie in another file: an earlier image, a base. It points at the file that has the bytes,
 * never at another run, so nothing is followed from file to file. */
#pragma once

#include <stdint.h>

#include "image/image.h"

enum { IMAGE_PAGE = 4096, IMAGE_HEAD_BYTES = IMAGE_PAGE };
static inline uint64_t image_whole_pages(uint64_t bytes)
{
    return (bytes + IMAGE_PAGE - 1) / IMAGE_PAGE * IMAGE_PAGE;
}
enum { IMAGE_MAPS_MAX = 32768, IMAGE_RUNS_MAX = 65536, IMAGE_NAMES_MAX = 4 << 20 };
#define IMAGE_MAGIC "BJIMAGE2"

struct image_front {
    char magic[8];
    uint64_t head_at, bytes;
    struct image_id id;
};

enum image_kind { IMAGE_ANONYMOUS, IMAGE_FILE, IMAGE_OF_KERNEL, IMAGE_LEFT_OUT };

/* One mapping of memory. */
struct image_map {
    uint64_t start, end, offset;
    uint64_t device, inode, size, changed; /* of IMAGE_FILE: it must be the same one later */
    uint64_t identity;                     /* or have the same content: image/identity.h */
    uint32_t kind, prot, name;
    uint8_t shared, heap, stack;
    uint8_t whole; /* every page is in the image, not only private ones */
};

/* Neighbouring pages of one mapping. */
struct image_run {
    uint64_t start, bytes, at;
    uint32_t file; /* 0: the image itself; k: its base k - 1 */
    uint32_t map;  /* only while it is written: the index of the mapping */
};

struct image_context;
struct image_head {
    struct image_context *context; /* in the image's own memory */
    uint64_t thread_pointer;
    uint64_t n_maps, maps_at, n_runs, runs_at, names_bytes, names_at;
    uint64_t kernel_code; /* a digest of the vDSO */
    uint64_t processor;   /* image_processor() */
    uint64_t bases_used;  /* bit k: a run lies in base k */
    struct image_id bases[IMAGE_BASES_MAX];
};
