#include "session/image_keys.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"

const struct image_key *image_keys_find(const struct image_keys *keys, const char *id)
{
    for (size_t i = 0; i < keys->n; i++)
        if (strcmp(keys->keys[i].id, id) == 0)
            return &keys->keys[i];
    return NULL;
}

void image_keys_done(struct image_keys *keys)
{
    sodium_memzero(keys, sizeof *keys);
}

/* The id tells nothing about the key. */
static void name_key(struct image_key *key)
{
    static const char purpose[] = "belljar image key";
    uint8_t id[crypto_generichash_BYTES_MIN];
    (void)crypto_generichash(id, sizeof id, (const uint8_t *)purpose, sizeof purpose - 1,
                             key->bytes, sizeof key->bytes);
    (void)sodium_bin2hex(key->id, sizeof key->id, id, sizeof key->id / 2);
}

static int take_line(struct image_keys *keys, const char *line, size_t n, unsigned number,
                     struct err *e)
{
    while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == ' '))
        n--;
    if (n == 0 || line[0] == '#')
        return 0;
    if (keys->n == IMAGE_KEYS_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the file of images.key_file has more than %d keys: remove old ones",
                       IMAGE_KEYS_MAX);
    struct image_key *key = &keys->keys[keys->n];
    size_t bytes;
    if (n != 2 * sizeof(key->bytes) ||
        sodium_hex2bin(key->bytes, sizeof key->bytes, line, n, NULL, &bytes, NULL) != 0 ||
        bytes != sizeof key->bytes)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "line %u of the file of images.key_file is not a key: 64 hex digits are "
                       "expected ('od -An -tx1 -N32 /dev/urandom | tr -d \" \\n\"' makes one)",
                       number);
    name_key(key);
    if (image_keys_find(keys, key->id))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "line %u of the file of images.key_file has a key for the second time",
                       number);
    keys->n++;
    return 0;
}

static int parse(const char *text, size_t n, struct image_keys *keys, struct err *e)
{
    unsigned number = 1;
    for (const char *at = text, *end = text + n; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if (take_line(keys, at, (size_t)(stop - at), number, e))
            return -1;
        at = newline ? newline + 1 : end;
    }
    return keys->n > 0 ? 0
                       : err_set(e, ERR_BAD_REQUEST, 0, "the file of images.key_file has no key");
}

int image_keys_read(int fd, struct image_keys *ret, struct err *e)
{
    char text[IMAGE_KEY_FILE_MAX + 1];
    *ret = (struct image_keys){ 0 };
    ssize_t n = pread(fd, text, sizeof text, 0); /* the next keeper reads it, too */
    if (n < 0)
        return err_set(e, ERR_KERNEL, errno, "read the file of images.key_file");
    int rc = n > IMAGE_KEY_FILE_MAX
                 ? err_set(e, ERR_BAD_REQUEST, 0,
                           "the file of images.key_file has more than %d bytes", IMAGE_KEY_FILE_MAX)
                 : parse(text, (size_t)n, ret, e);
    sodium_memzero(text, sizeof text);
    if (rc)
        image_keys_done(ret);
    return rc;
}
