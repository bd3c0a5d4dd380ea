#include "image/keep.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WINDOW = 4096 }; /* pages */
/* pagemap(5) */
#define IN_USE  (UINT64_C(3) << 62) /* present or swapped */
#define OF_FILE (UINT64_C(1) << 61)

struct looking {
    struct image_scratch *have;
    int pagemap;
    uint64_t from, to; /* the addresses whose entries are in have->entries */
};

/* Unknown pages count as private. */
static bool is_private(struct looking *l, uint64_t address)
{
    uint64_t *entries = l->have->entries;
    if (address < l->from || address >= l->to) {
        ssize_t n = pread(l->pagemap, entries, WINDOW * sizeof entries[0],
                          (off_t)(address / IMAGE_PAGE * sizeof entries[0]));
        l->from = l->to = address;
        if (n < (ssize_t)sizeof entries[0])
            return true;
        l->to += (uint64_t)n / sizeof entries[0] * IMAGE_PAGE;
    }
    uint64_t entry = entries[(address - l->from) / IMAGE_PAGE];
    return entry & IN_USE && !(entry & OF_FILE);
}

static bool has_private_pages(struct looking *l, const struct image_map *m)
{
    for (uint64_t at = m->start; at < m->end; at += IMAGE_PAGE)
        if (is_private(l, at))
            return true;
    return false;
}

static bool is_same(const struct image_scratch *have, const struct image_map *h,
                    const struct image_scratch *want, const struct image_map *w)
{
    return h->kind == IMAGE_FILE && w->kind == IMAGE_FILE && !h->shared && !w->shared &&
           h->start == w->start && h->end == w->end && h->offset == w->offset &&
           h->prot == w->prot && h->device == w->device && h->inode == w->inode &&
           h->size == w->size && h->changed == w->changed &&
           strcmp(image_map_name(have, h), image_map_name(want, w)) == 0;
}

void image_find_kept(struct image_scratch *have, struct image_scratch *want)
{
    struct looking l = { .have = have,
                         .pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) };
    memset(have->keep, KEEP_NOT, have->n_maps);
    memset(want->keep, KEEP_NOT, want->n_maps);
    for (size_t h = 0, w = 0; h < have->n_maps && w < want->n_maps;) {
        const struct image_map *mine = &have->maps[h], *theirs = &want->maps[w];
        if (is_same(have, mine, want, theirs)) {
            uint8_t keep = has_private_pages(&l, mine) ? KEEP_DIRTY : KEEP_CLEAN;
            have->keep[h++] = want->keep[w++] = keep;
        } else if (mine->start < theirs->start) {
            h++;
        } else {
            w++;
        }
    }
    if (l.pagemap >= 0)
        (void)close(l.pagemap);
}
