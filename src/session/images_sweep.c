/* At the start: files of images without a row go. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "session/session_impl.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void images_sweep(int dir_fd, const struct saved_image *first)
{
    size_t n = 0;
    for (const struct saved_image *s = first; s; s = s->next)
        n++;
    autofree const char **ids = calloc(n + 1, sizeof *ids);
    int copy = ids ? openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    autodir DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    n = 0;
    for (const struct saved_image *s = first; ids && s; s = s->next)
        ids[n++] = s->row.id;
    if (ids)
        qsort(ids, n, sizeof *ids, by_text);
    while (dir && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        if (name[0] != '.' && !bsearch(&name, ids, n, sizeof *ids, by_text))
            (void)unlinkat(dir_fd, name, 0);
    }
}
