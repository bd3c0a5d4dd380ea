/* image/links.h — the files of a walk that have more than one name, without the allocator.
 * Runs in: a session program. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/* Zeros: no file yet. */
struct image_links {
    struct image_links_table *table;
};

/* The name under which the same file came first; NULL: this is the first, and it is remembered.
 * *ret_is_full: there was no room to remember it. */
const char *image_links_find(struct image_links *l, const struct stat *st, const char *name,
                             bool *ret_is_full);
void image_links_done(struct image_links *l);
