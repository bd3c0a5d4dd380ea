/* image/walk.h — every name below a folder, in the order that earlier images rely on, and without the
 * allocator (image/listing.h). Runs in: a session program. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct image_walk {
    char path[PATH_MAX]; /* grows and shrinks on the way */
    /* Called for each name: a folder before its contents, or after them. Nonzero ends the walk. */
    int (*visit)(struct image_walk *w, const struct stat *st);
    int (*unreadable)(struct image_walk *w, int error); /* a folder */
    bool folders_last;
    char *names; /* of the folders from the top to this one */
    size_t used;
};

/* The names of one folder come in the order of their bytes. Returns the first nonzero result of a
 * function, or 0. */
int image_walk_place(struct image_walk *w, const char *place);
/* For the function `unreadable`: tries the folder once more. */
int image_walk_again(struct image_walk *w);
