#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_done(struct buf *b)
{
    free(b->data);
    *b = (struct buf){ 0 };
}

int buf_reserve(struct buf *b, size_t n, struct err *e)
{
    if (n > SIZE_MAX / 4 - b->len)
        return err_set(e, ERR_NO_MEMORY, 0, "a buffer would grow past %zu bytes", SIZE_MAX / 4);
    size_t need = b->len + n + 1;
    if (need <= b->cap)
        return 0;
    size_t cap = b->cap ? b->cap : 256;
    while (cap < need)
        cap *= 2;
    char *grown = realloc(b->data, cap);
    if (!grown)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory for a buffer of %zu bytes", cap);
    b->data = grown;
    b->cap = cap;
    b->data[b->len] = '\0';
    return 0;
}

int buf_add(struct buf *b, const void *bytes, size_t n, struct err *e)
{
    if (buf_reserve(b, n, e))
        return -1;
    if (n > 0)
        memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
    return 0;
}

int buf_addf(struct buf *b, struct err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || buf_reserve(b, (size_t)n, e))
        return n < 0 ? err_set(e, ERR_NO_MEMORY, 0, "cannot format a message") : -1;
    va_start(ap, fmt);
    (void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
    return 0;
}

const char *buf_str(const struct buf *b)
{
    return b->data ? b->data : "";
}
