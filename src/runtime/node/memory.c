#include "runtime/node/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Visits only pages that are present. Reading an absent page would create it here and in the page
 * tables of every child. */
static bool walk_mapping(int pagemap, uint64_t from, uint64_t to, memory_fn fn, void *context)
{
    enum { AT_A_TIME = 512 };
    const uint64_t present = 1ull << 63, page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t flags[AT_A_TIME];
    while (from < to) {
        size_t want = (to - from) / page < AT_A_TIME ? (to - from) / page : AT_A_TIME;
        ssize_t n = pread(pagemap, flags, want * sizeof flags[0],
                          (off_t)(from / page * sizeof flags[0]));
        if (n <= 0)
            return false;
        for (size_t i = 0; i < (size_t)n / sizeof flags[0]; i++, from += page) {
            /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address out of /proc */
            uint64_t *p = (uint64_t *)from, *end = p + page / sizeof *p;
            for (; flags[i] & present && p < end; p++)
                if (!fn(p, context))
                    return false;
        }
    }
    return true;
}

bool memory_walk(memory_fn fn, void *context)
{
    char line[512];
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    FILE *maps = fopen("/proc/self/maps", "re");
    bool good = maps && pagemap >= 0;
    while (good && fgets(line, sizeof line, maps)) {
        uint64_t from, to;
        char may[8];
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &from, &to, may) == 3 &&
            strncmp(may, "rw-p", 4) == 0 && !strstr(line, "[stack]"))
            good = walk_mapping(pagemap, from, to, fn, context);
    }
    if (maps)
        (void)fclose(maps);
    if (pagemap >= 0)
        close(pagemap);
    return good;
}
