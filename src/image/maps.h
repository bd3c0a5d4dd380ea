/* image/maps.h — the mappings of this process, out of /proc. Runs in: a session program, also in a
 * child that must not use the allocator. */
#pragma once

#include "image/format.h"

/* Memory that is in no image: a shared mapping of its own, so that no other mapping grows into it. */
struct image_scratch {
    struct image_map maps[IMAGE_MAPS_MAX];
    struct image_run runs[IMAGE_RUNS_MAX];
    uint8_t keep[IMAGE_MAPS_MAX]; /* enum image_keep, of each map */
    int fds[IMAGE_MAPS_MAX];      /* the open file of each map, or -1 */
    size_t n_maps, n_runs, names_bytes;
    char names[IMAGE_NAMES_MAX];
    char text[64 << 10];
    uint64_t entries[64 << 10]; /* of /proc/self/pagemap */
};
struct image_scratch *image_scratch_new(void);
void image_scratch_free(struct image_scratch *s);

/* Fills maps and names. The scratch itself is left out. */
[[nodiscard]] int image_read_maps(struct image_scratch *s, char why[IMAGE_WHY]);
const char *image_map_name(const struct image_scratch *s, const struct image_map *m);
static inline void *image_at(uint64_t address)
{
    return (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr): out of /proc */
}
/* A digest of the code that the kernel maps into every process. */
uint64_t image_kernel_code(const struct image_scratch *s);
