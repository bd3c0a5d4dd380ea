/* tests/unit/lib/edge.h — memory behind which there is nothing: one byte too far ends the test at
 * once, in every variant of the build. */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EDGE_ROOM = 1 << 16, EDGE_PAGE = 1 << 12 };

/* n bytes at the edge. The next call uses the same memory. */
[[maybe_unused]] static char *edge_room(size_t n)
{
    static char *edge;
    if (!edge) {
        char *at = mmap(NULL, EDGE_ROOM + EDGE_PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED || mprotect(at + EDGE_ROOM, EDGE_PAGE, PROT_NONE) < 0)
            abort();
        edge = at + EDGE_ROOM;
    }
    if (n > EDGE_ROOM)
        abort();
    return edge - n;
}

/* A copy of these bytes at the edge. */
[[maybe_unused]] static char *edge_copy(const void *bytes, size_t n)
{
    char *at = edge_room(n);
    return n > 0 ? memcpy(at, bytes, n) : at;
}
