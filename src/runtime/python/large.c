/* runtime/python/large.c — the memory of large objects is in huge pages, if the machine has them for
 * programs that ask. An image is written by a child, and the session waits while the kernel copies its
 * page tables: 512 entries of small pages are one of a huge page. */
#include "runtime/python/guest.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LARGE = 4 << 20, /* bytes; numpy does it itself, from the same size on */
    PAGE = 4096,
};

static PyMemAllocatorEx plain; /* of the interpreter */

/* Not in the heap: one mapping would become several for each object. */
static void *prefer_huge(void *p, size_t bytes)
{
    uintptr_t from = ((uintptr_t)p + PAGE - 1) / PAGE * PAGE,
              to = ((uintptr_t)p + bytes) / PAGE * PAGE;
    if (p && bytes >= LARGE && from > (uintptr_t)sbrk(0))
        (void)madvise((char *)p + (from - (uintptr_t)p), to - from, MADV_HUGEPAGE);
    return p;
}

static void *allocate(void *context, size_t bytes)
{
    (void)context;
    return prefer_huge(plain.malloc(plain.ctx, bytes), bytes);
}

/* Zeros may stay untouched, and untouched small pages take no memory. */
static void *allocate_zeros(void *context, size_t n, size_t bytes)
{
    (void)context;
    return plain.calloc(plain.ctx, n, bytes);
}

static void *resize(void *context, void *p, size_t bytes)
{
    (void)context;
    return prefer_huge(plain.realloc(plain.ctx, p, bytes), bytes);
}

static void release(void *context, void *p)
{
    (void)context;
    plain.free(plain.ctx, p);
}

void guest_prefer_huge_pages(void)
{
    static PyMemAllocatorEx ours = { NULL, allocate, allocate_zeros, resize, release };
    if (plain.malloc)
        return;
    PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &plain);
    PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &ours);
}
