#include "runtime/plain/pages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

struct pages {
    uintptr_t start;
    size_t bytes;
    int advice;
};

enum { RANGES_MAX = 4096, PAGES_AROUND = 16 };

static struct {
    struct pages ranges[RANGES_MAX];
    size_t n;
} known;

static void add(uintptr_t page, size_t page_bytes, int advice)
{
    size_t around = PAGES_AROUND * page_bytes;
    struct pages *last = known.n ? &known.ranges[known.n - 1] : NULL;
    /* A read fault also maps the pages around it, which is cheaper than one request for each
     * page. */
    if (last && last->advice == advice && advice == MADV_POPULATE_READ &&
        page / around == last->start / around)
        return;
    if (advice == MADV_POPULATE_WRITE && last && last->advice == advice &&
        last->start + last->bytes == page)
        last->bytes += page_bytes;
    else if (known.n < RANGES_MAX)
        known.ranges[known.n++] = (struct pages){ page, page_bytes, advice };
}

/* Of a writable mapping: the private pages. Of another: the present pages. Bits as in
 * pagemap(5). */
static void look_at(int pagemap, uintptr_t start, uintptr_t end, bool writable)
{
    const uint64_t present = UINT64_C(1) << 63, of_file = UINT64_C(1) << 61,
                   exclusive = UINT64_C(1) << 56;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t entries[512];
    while (start < end) {
        size_t n = (end - start) / page < 512 ? (end - start) / page : 512;
        ssize_t got = pread(pagemap, entries, n * sizeof *entries,
                            (off_t)(start / page * sizeof *entries));
        if (got <= 0)
            return;
        n = (size_t)got / sizeof *entries;
        for (size_t i = 0; i < n; i++) {
            if (!(entries[i] & present))
                continue;
            if (!writable)
                add(start + i * page, page, MADV_POPULATE_READ);
            else if (entries[i] & exclusive && !(entries[i] & of_file))
                add(start + i * page, page, MADV_POPULATE_WRITE);
        }
        start += n * page;
    }
}

static void look_at_all(void)
{
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], mode[5];
    uintptr_t start, end;
    while (pagemap >= 0 && maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &start, &end, mode) != 3 ||
            mode[3] != 'p' || mode[0] != 'r' || strstr(line, "[v"))
            continue;
        look_at(pagemap, start, end, mode[1] == 'w');
    }
    if (maps)
        (void)fclose(maps);
    if (pagemap >= 0)
        close(pagemap);
}

_Noreturn void pages_report(int to)
{
    look_at_all();
    const char *at = (const char *)known.ranges;
    for (size_t left = known.n * sizeof known.ranges[0]; left;) {
        ssize_t n = write(to, at, left);
        if (n <= 0)
            break;
        at += n;
        left -= (size_t)n;
    }
    _exit(0);
}

void pages_receive(int from)
{
    size_t n = 0;
    while (n < sizeof known.ranges) {
        ssize_t got = read(from, (char *)known.ranges + n, sizeof known.ranges - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    known.n = n / sizeof known.ranges[0];
}

void pages_touch(void)
{
    /* A range that is no longer mapped is skipped: no job needs it. */
    for (size_t i = 0; i < known.n; i++)
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address out of /proc */
        (void)madvise((void *)known.ranges[i].start, known.ranges[i].bytes, known.ranges[i].advice);
}
