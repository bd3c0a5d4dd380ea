#include "store/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"

enum { FILE_PIECE = 64 << 10 };

static crypto_generichash_state *state_of(struct digest *d)
{
    return (void *)(d->room + (-(uintptr_t)d->room & (DIGEST_ALIGN - 1)));
}

void digest_begin(struct digest *d)
{
    (void)crypto_generichash_init(state_of(d), NULL, 0, DIGEST_BYTES);
}

static void add_u64(struct digest *d, uint64_t v)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(v >> (56 - 8 * i));
    (void)crypto_generichash_update(state_of(d), bytes, sizeof bytes);
}

void digest_add(struct digest *d, const void *bytes, size_t n)
{
    add_u64(d, n);
    if (n > 0)
        (void)crypto_generichash_update(state_of(d), bytes, n);
}

void digest_add_text(struct digest *d, const char *text)
{
    if (text)
        digest_add(d, text, strlen(text));
    else
        add_u64(d, UINT64_MAX); /* no text is that long */
}

void digest_add_number(struct digest *d, uint64_t v)
{
    add_u64(d, sizeof v);
    add_u64(d, v);
}

void digest_add_list(struct digest *d, char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    add_u64(d, list ? n : UINT64_MAX);
    for (size_t i = 0; i < n; i++)
        digest_add_text(d, list[i]);
}

int digest_add_file(struct digest *d, int fd, struct err *e)
{
    struct stat st;
    autofree char *piece = malloc(FILE_PIECE);
    if (!piece)
        return err_no_memory(e, "a digest");
    if (fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "read the size of an output file");
    add_u64(d, (uint64_t)st.st_size);
    for (off_t at = 0; at < st.st_size;) {
        off_t left = st.st_size - at;
        ssize_t n = pread(fd, piece, left < FILE_PIECE ? (size_t)left : FILE_PIECE, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set(e, ERR_KERNEL, n < 0 ? errno : EIO, "read an output file");
        (void)crypto_generichash_update(state_of(d), (const uint8_t *)piece, (size_t)n);
        at += n;
    }
    return 0;
}

void digest_end(struct digest *d, uint8_t ret[DIGEST_BYTES])
{
    (void)crypto_generichash_final(state_of(d), ret, DIGEST_BYTES);
}

const char *digest_end_hex(struct digest *d, char ret[DIGEST_HEX])
{
    uint8_t bytes[DIGEST_BYTES];
    digest_end(d, bytes);
    return sodium_bin2hex(ret, DIGEST_HEX, bytes, sizeof bytes);
}
