/* image/listing.h — the names in a directory, without the allocator: another thread may have been
 * stopped while it held the allocator's lock. Runs in: a session program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct image_listing {
    int fd;
    size_t at, n;
    _Alignas(8) char bytes[2048];
};

/* False: errno has the reason, and there is nothing to close. */
bool image_listing_open(struct image_listing *l, const char *path);
/* The next name, but "." and ".."; NULL at the end. It is overwritten by the next call. */
const char *image_listing_next(struct image_listing *l);
void image_listing_close(struct image_listing *l);
/* The next name that is a number, which /proc has many of; -1 at the end. */
int image_listing_next_number(struct image_listing *l);
