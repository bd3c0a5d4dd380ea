/* At the start: files of images without a row go. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "session/session_impl.h"

static int by_id(const void *a, const void *b)
{
    return strcmp((*(struct saved_image *const *)a)->row.id,
                  (*(struct saved_image *const *)b)->row.id);
}

static struct saved_image **sorted_by_id(struct saved_image *first, size_t *ret_n)
{
    size_t n = 0;
    for (const struct saved_image *s = first; s; s = s->next)
        n++;
    struct saved_image **all = calloc(n + 1, sizeof(void *));
    *ret_n = n;
    n = 0;
    for (struct saved_image *s = first; all && s; s = s->next)
        all[n++] = s;
    if (all)
        qsort(all, n, sizeof(void *), by_id);
    return all;
}

bool images_sweep(int dir_fd, struct saved_image *first)
{
    size_t n;
    autofree struct saved_image **all = sorted_by_id(first, &n);
    int copy = all ? openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    autodir DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    if (!dir)
        return false;
    for (errno = 0; (entry = readdir(dir)); errno = 0) {
        struct saved_image key = { .row.id = (char *)entry->d_name }, *wanted = &key;
        if (entry->d_name[0] == '.')
            continue;
        struct saved_image **at = bsearch(&wanted, all, n, sizeof(void *), by_id);
        if (at)
            (*at)->has_file = true;
        else
            (void)unlinkat(dir_fd, entry->d_name, 0);
    }
    return errno == 0;
}
