/* session/image_keys.h — the keys of the operator that images are encrypted with.
 * Runs in: keeper. The key file is opened by the supervisor, and read here alone.
 *
 * Invariants
 * KEYS-1 The bytes of a key are in no log, no answer and no process list; errors name a line of the
 *        file, and a key by its id. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    IMAGE_KEYS_MAX = 8,
    IMAGE_KEY_BYTES = 32,
    IMAGE_KEY_ID_SIZE = 17, /* 16 hex digits: a digest of the key */
    IMAGE_KEY_FILE_MAX = 4096,
};

struct image_key {
    uint8_t bytes[IMAGE_KEY_BYTES];
    char id[IMAGE_KEY_ID_SIZE];
};

/* The first one encrypts, all of them decrypt. None: images are not encrypted. */
struct image_keys {
    struct image_key keys[IMAGE_KEYS_MAX];
    size_t n;
};

/* A file of lines, each with 64 hex digits; lines that are empty or begin with '#' do not count. */
[[nodiscard]] int image_keys_read(int fd, struct image_keys *ret, struct err *e);
/* NULL: it is not there. */
const struct image_key *image_keys_find(const struct image_keys *keys, const char *id);
void image_keys_done(struct image_keys *keys);
