#include "porter/hello.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { RECORD_HEAD = 5, RECORD_HANDSHAKE = 22, MESSAGE_HEAD = 4, CLIENT_HELLO = 1 };
enum { EXTENSION_SERVER_NAME = 0, NAME_TYPE_HOST = 0 };

/* Bytes that are left to read. A read beyond the end yields zeros and fails. */
struct span {
    const uint8_t *at;
    size_t left;
    bool failed;
};

static const uint8_t *take(struct span *s, size_t n)
{
    if (s->failed || n > s->left) {
        s->failed = true;
        return NULL;
    }
    const uint8_t *at = s->at;
    s->at += n;
    s->left -= n;
    return at;
}

static size_t number(struct span *s, size_t bytes)
{
    const uint8_t *at = take(s, bytes);
    size_t v = 0;
    for (size_t i = 0; at && i < bytes; i++)
        v = v << 8 | at[i];
    return v;
}

/* A field with its length in front. */
static struct span field(struct span *s, size_t length_bytes)
{
    size_t n = number(s, length_bytes);
    const uint8_t *at = take(s, n);
    return (struct span){ .at = at, .left = at ? n : 0, .failed = s->failed };
}

/* Joins the handshake bytes of the records. */
static enum hello join_records(const uint8_t *bytes, size_t n, uint8_t *out, size_t *ret_n)
{
    size_t at = 0, used = 0, wanted = 0;
    while (wanted == 0 || used < wanted) {
        if (n > at && bytes[at] != RECORD_HANDSHAKE)
            return at == 0 ? HELLO_NONE : HELLO_BAD;
        if (n - at < RECORD_HEAD)
            return HELLO_MORE;
        size_t length = (size_t)(bytes[at + 3] << 8 | bytes[at + 4]);
        if (bytes[at + 1] != 3 || length == 0 || length > HELLO_MAX)
            return HELLO_BAD;
        if (length > n - at - RECORD_HEAD)
            return HELLO_MORE;
        if (used + length > HELLO_MAX)
            return HELLO_BAD;
        memcpy(out + used, bytes + at + RECORD_HEAD, length);
        used += length;
        at += RECORD_HEAD + length;
        if (wanted == 0 && used >= MESSAGE_HEAD) {
            wanted = MESSAGE_HEAD + ((size_t)out[1] << 16 | (size_t)out[2] << 8 | out[3]);
            if (out[0] != CLIENT_HELLO || wanted > HELLO_MAX)
                return HELLO_BAD;
        }
    }
    *ret_n = wanted;
    return HELLO_NAME;
}

static enum hello copy_name(struct span name, char ret_name[HELLO_NAME_SIZE])
{
    if (name.left == 0 || name.left >= HELLO_NAME_SIZE)
        return HELLO_BAD;
    for (size_t i = 0; i < name.left; i++)
        if (!isalnum(name.at[i]) && name.at[i] != '-' && name.at[i] != '_' && name.at[i] != '.')
            return HELLO_BAD;
    for (size_t i = 0; i < name.left; i++)
        ret_name[i] = (char)tolower(name.at[i]);
    ret_name[name.left] = '\0';
    return HELLO_NAME;
}

static enum hello find_name(struct span extensions, char ret_name[HELLO_NAME_SIZE])
{
    while (extensions.left > 0 && !extensions.failed) {
        size_t type = number(&extensions, 2);
        struct span body = field(&extensions, 2);
        if (type != EXTENSION_SERVER_NAME || extensions.failed)
            continue;
        struct span names = field(&body, 2);
        size_t name_type = number(&names, 1);
        struct span name = field(&names, 2);
        return names.failed || name_type != NAME_TYPE_HOST ? HELLO_BAD : copy_name(name, ret_name);
    }
    return extensions.failed ? HELLO_BAD : HELLO_NONE;
}

enum hello hello_read(const uint8_t *bytes, size_t n, char ret_name[HELLO_NAME_SIZE])
{
    enum { VERSION_AND_RANDOM = 2 + 32 };
    uint8_t message[HELLO_MAX];
    size_t length = 0;
    enum hello joined = n == 0 ? HELLO_MORE : join_records(bytes, n, message, &length);
    if (joined != HELLO_NAME)
        return joined;
    struct span s = { .at = message + MESSAGE_HEAD, .left = length - MESSAGE_HEAD };
    (void)take(&s, VERSION_AND_RANDOM);
    (void)field(&s, 1); /* session */
    (void)field(&s, 2); /* ciphers */
    (void)field(&s, 1); /* compression */
    if (s.left == 0)
        return s.failed ? HELLO_BAD : HELLO_NONE; /* without extensions */
    struct span extensions = field(&s, 2);
    return s.failed ? HELLO_BAD : find_name(extensions, ret_name);
}
