#include "image/links.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 1 << 16, USED_MAX = SLOTS / 2, NAMES_BYTES = 4 << 20 };

/* Pages that are not used cost nothing. */
struct image_links_table {
    struct {
        dev_t device;
        ino_t inode;
        uint32_t name; /* its offset and 1; 0: the slot is free */
    } slots[SLOTS];
    size_t used, n_names;
    char names[NAMES_BYTES];
};

static struct image_links_table *table_of(struct image_links *l)
{
    if (l->table)
        return l->table;
    void *memory = mmap(NULL, sizeof *l->table, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    l->table = memory == MAP_FAILED ? NULL : memory;
    return l->table;
}

const char *image_links_find(struct image_links *l, const struct stat *st, const char *name,
                             bool *ret_is_full)
{
    struct image_links_table *t = table_of(l);
    size_t n = strlen(name) + 1;
    *ret_is_full = !t;
    if (!t)
        return NULL;
    size_t at = (size_t)(st->st_ino * UINT64_C(0x9E3779B97F4A7C15) >> 48) % SLOTS;
    for (; t->slots[at].name; at = (at + 1) % SLOTS)
        if (t->slots[at].device == st->st_dev && t->slots[at].inode == st->st_ino)
            return t->names + t->slots[at].name - 1;
    *ret_is_full = t->used == USED_MAX || n > sizeof t->names - t->n_names;
    if (*ret_is_full)
        return NULL;
    t->slots[at].device = st->st_dev;
    t->slots[at].inode = st->st_ino;
    t->slots[at].name = (uint32_t)t->n_names + 1;
    memcpy(t->names + t->n_names, name, n);
    t->n_names += n;
    t->used++;
    return NULL;
}

void image_links_done(struct image_links *l)
{
    if (l->table)
        (void)munmap(l->table, sizeof *l->table);
    l->table = NULL;
}
