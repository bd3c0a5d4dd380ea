#include "base/pack.h"

#include <stdlib.h>
#include <string.h>

static void put(struct packer *p, const void *bytes, size_t n)
{
    if (p->failed || n > p->left) {
        p->failed = true;
        return;
    }
    if (n > 0)
        memcpy(p->at, bytes, n);
    p->at += n;
    p->left -= n;
}

void pack_u32(struct packer *p, uint32_t v)
{
    put(p, &v, sizeof v);
}

void pack_u64(struct packer *p, uint64_t v)
{
    put(p, &v, sizeof v);
}

void pack_bytes(struct packer *p, const void *bytes, size_t n)
{
    if (n > UINT32_MAX)
        p->failed = true;
    pack_u32(p, (uint32_t)n);
    put(p, bytes, n);
}

void pack_str(struct packer *p, const char *s)
{
    pack_bytes(p, s, strlen(s) + 1);
}

void pack_strv(struct packer *p, char *const *strv)
{
    uint32_t n = 0;
    while (strv && strv[n])
        n++;
    pack_u32(p, n);
    for (uint32_t i = 0; i < n; i++)
        pack_str(p, strv[i]);
}

static const void *get(struct unpacker *u, size_t n)
{
    if (u->failed || n > u->left) {
        u->failed = true;
        return NULL;
    }
    const void *at = u->at;
    u->at += n;
    u->left -= n;
    return at;
}

uint32_t unpack_u32(struct unpacker *u)
{
    uint32_t v = 0;
    const void *at = get(u, sizeof v);
    if (at)
        memcpy(&v, at, sizeof v);
    return v;
}

uint64_t unpack_u64(struct unpacker *u)
{
    uint64_t v = 0;
    const void *at = get(u, sizeof v);
    if (at)
        memcpy(&v, at, sizeof v);
    return v;
}

const char *unpack_bytes(struct unpacker *u, size_t *ret_n)
{
    uint32_t n = unpack_u32(u);
    const char *bytes = get(u, n);
    *ret_n = bytes ? n : 0;
    return bytes;
}

const char *unpack_str(struct unpacker *u)
{
    uint32_t n = unpack_u32(u);
    const char *s = get(u, n);
    /* Exactly one NUL, at the end: a string must mean the same to both sides. */
    if (s && (n == 0 || memchr(s, '\0', n) != s + n - 1)) {
        u->failed = true;
        return NULL;
    }
    return s;
}

char **unpack_strv(struct unpacker *u, size_t max)
{
    uint32_t n = unpack_u32(u);
    if (u->failed || n > max || n > u->left / 5) { /* each takes at least length and NUL */
        u->failed = true;
        return NULL;
    }
    char **strv = calloc(n + 1, sizeof *strv);
    if (!strv) {
        u->failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        strv[i] = (char *)unpack_str(u);
    if (u->failed) {
        free(strv);
        return NULL;
    }
    return strv;
}

int unpack_end(const struct unpacker *u, const char *what, struct err *e)
{
    if (u->failed)
        return err_set(e, ERR_PROTOCOL, 0, "a %s message is malformed", what);
    if (u->left > 0)
        return err_set(e, ERR_PROTOCOL, 0, "a %s message has %zu bytes too many", what, u->left);
    return 0;
}
