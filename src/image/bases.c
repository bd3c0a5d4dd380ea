#include "image/bases.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool image_read_front(int fd, struct image_front *ret)
{
    struct stat st;
    return pread(fd, ret, sizeof *ret, 0) == (ssize_t)sizeof *ret &&
           memcmp(ret->magic, IMAGE_MAGIC, sizeof ret->magic) == 0 && fstat(fd, &st) == 0 &&
           ret->bytes == (uint64_t)st.st_size;
}

int image_find_base(const struct image_bases *bases, const struct image_id *id)
{
    struct image_front front;
    for (size_t i = 0; bases && i < bases->n && i < IMAGE_BASES_MAX; i++)
        if (image_read_front(bases->fds[i], &front) && memcmp(&front.id, id, sizeof *id) == 0)
            return (int)i;
    return -1;
}
