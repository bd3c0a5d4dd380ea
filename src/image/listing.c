#include "image/listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool image_listing_open(struct image_listing *l, const char *path)
{
    l->at = l->n = 0;
    l->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return l->fd >= 0;
}

const char *image_listing_next(struct image_listing *l)
{
    for (;;) {
        if (l->at >= l->n) {
            long n = syscall(SYS_getdents64, l->fd, l->bytes, sizeof l->bytes);
            if (n <= 0)
                return NULL;
            l->n = (size_t)n;
            l->at = 0;
        }
        const struct dirent64 *d = (const struct dirent64 *)(void *)(l->bytes + l->at);
        l->at += d->d_reclen;
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            return d->d_name;
    }
}

void image_listing_close(struct image_listing *l)
{
    (void)close(l->fd);
}

int image_listing_next_number(struct image_listing *l)
{
    const char *name;
    while ((name = image_listing_next(l))) {
        char *end;
        long number = strtol(name, &end, 10);
        if (!*end && number >= 0 && number <= INT32_MAX)
            return (int)number;
    }
    return -1;
}
