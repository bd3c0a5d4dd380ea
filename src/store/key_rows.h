/* store/key_rows.h — API keys. Only their hashes are stored. Runs in: a store thread, or a
 * command. */
#pragma once

#include <stdint.h>

#include "store/db.h"

#define SCOPE_TABLE(X)                                                  \
    X(SCOPE_RUN, "run", "run code, cancel, feed stdin, make artifacts") \
    X(SCOPE_READ, "read", "read runs, history, artifacts, statistics")  \
    X(SCOPE_APPROVE, "approve", "decide on approvals and rules")        \
    X(SCOPE_ADMIN, "admin", "everything, and keys")
enum scope {
#define X(id, word, help) id,
    SCOPE_TABLE(X)
#undef X
        SCOPE_COUNT_
};
typedef uint32_t scope_set;
#define SCOPE_BIT(id) ((scope_set)1 << (id))
#define SCOPES_ALL    ((1u << SCOPE_COUNT_) - 1)
const char *scope_word(enum scope s);
/* Parses "run,read". An unknown word is refused; the error lists the known ones. */
[[nodiscard]] int scopes_parse(const char *text, scope_set *ret, struct err *e);
/* Prints "run,read". */
const char *scopes_format(scope_set set, char *out, size_t size);

enum { KEY_HASH_BYTES = 32, KEY_TEXT_MAX = 64, KEY_NAME_MAX = 64, KEY_ID_SIZE = 20 };

struct key_row {
    char name[KEY_NAME_MAX + 1]; /* letters, digits, '-', '_', '.'; unique */
    uint8_t hash[KEY_HASH_BYTES];
    scope_set scopes;
    uint32_t max_runs; /* at a time; 0: as the setting says */
    int64_t created_ms;
};

#define KEY_PREFIX "blj_"
/* Makes the text of a new key, KEY_PREFIX and 43 characters of base64url, and its hash. */
[[nodiscard]] int key_make(char ret_text[KEY_TEXT_MAX], uint8_t ret_hash[KEY_HASH_BYTES],
                           struct err *e);
void key_hash(const char *text, uint8_t ret_hash[KEY_HASH_BYTES]);
/* The id of a key: "k" and 16 hexadecimal digits of its hash. Things that a key owns are bound to
 * its id, so that a new key under an old name inherits nothing. */
void key_id(const uint8_t hash[KEY_HASH_BYTES], char ret[KEY_ID_SIZE]);
/* Compares in constant time. */
bool key_hash_equal(const uint8_t a[KEY_HASH_BYTES], const uint8_t b[KEY_HASH_BYTES]);
[[nodiscard]] int key_name_check(const char *name, struct err *e);

/* Both also write an audit record in the name of `actor`. ERR_CONFLICT if the name exists. */
[[nodiscard]] int keys_add(struct db *db, const struct key_row *k, const char *actor,
                           struct err *e);
[[nodiscard]] int keys_remove(struct db *db, const char *name, const char *actor, int64_t now_ms,
                              struct err *e);
/* Whether there was ever a key, even if all were removed. */
[[nodiscard]] int keys_existed(struct db *db, bool *ret, struct err *e);
[[nodiscard]] int keys_list(struct db *db, struct key_row **ret, size_t *ret_n, struct err *e);
