#include "store/key_rows.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "store/audit_log.h"
#include "store/db_query.h"

enum { SECRET_BYTES = 32, SCOPES_TEXT_MAX = 128 };
static const char prefix[] = KEY_PREFIX;

static const char *const words[] = {
#define X(id, word, help) [id] = word,
    SCOPE_TABLE(X)
#undef X
};

static const char word_list[] =
#define X(id, word, help) " " word
    SCOPE_TABLE(X)
#undef X
    ;

const char *scope_word(enum scope s)
{
    return words[s];
}

static int add_scope(const char *word, size_t n, scope_set *set, struct err *e)
{
    char shown[64], quoted[96];
    for (int i = 0; i < SCOPE_COUNT_; i++) {
        if (strlen(words[i]) == n && strncmp(word, words[i], n) == 0) {
            *set |= SCOPE_BIT(i);
            return 0;
        }
    }
    (void)snprintf(shown, sizeof shown, "%.*s", (int)(n < sizeof shown ? n : sizeof shown), word);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "scope '%s' is not one of%s (several are joined by commas: run,read)",
                   text_quote(shown, quoted, sizeof quoted), word_list);
}

int scopes_parse(const char *text, scope_set *ret, struct err *e)
{
    scope_set set = 0;
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        if (add_scope(at, n, &set, e))
            return -1;
        at += n;
        if (!*at)
            break;
    }
    *ret = set;
    return 0;
}

const char *scopes_format(scope_set set, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < SCOPE_COUNT_; i++) {
        if (!(set & SCOPE_BIT(i)) || used >= size)
            continue;
        int n = snprintf(out + used, size - used, "%s%s", used ? "," : "", words[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return out;
}

int key_make(char ret_text[KEY_TEXT_MAX], uint8_t ret_hash[KEY_HASH_BYTES], struct err *e)
{
    uint8_t secret[SECRET_BYTES];
    if (sodium_init() < 0)
        return err_set(e, ERR_KERNEL, 0, "make a key: no random bytes are available");
    randombytes_buf(secret, sizeof secret);
    (void)snprintf(ret_text, KEY_TEXT_MAX, "%s", prefix);
    (void)sodium_bin2base64(ret_text + strlen(prefix), KEY_TEXT_MAX - strlen(prefix), secret,
                            sizeof secret, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(secret, sizeof secret);
    key_hash(ret_text, ret_hash);
    return 0;
}

/* No salt and no slow hash: the text is 256 random bits, which cannot be guessed. */
void key_hash(const char *text, uint8_t ret_hash[KEY_HASH_BYTES])
{
    (void)crypto_generichash(ret_hash, KEY_HASH_BYTES, (const uint8_t *)text, strlen(text), NULL,
                             0);
}

void key_id(const uint8_t hash[KEY_HASH_BYTES], char ret[KEY_ID_SIZE])
{
    ret[0] = 'k';
    (void)sodium_bin2hex(ret + 1, KEY_ID_SIZE - 1, hash, 8);
}

bool key_hash_equal(const uint8_t a[KEY_HASH_BYTES], const uint8_t b[KEY_HASH_BYTES])
{
    return sodium_memcmp(a, b, KEY_HASH_BYTES) == 0;
}

int key_name_check(const char *name, struct err *e)
{
    static const char accepted[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t n = strlen(name);
    if (n >= 1 && n <= KEY_NAME_MAX && strspn(name, accepted) == n)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "key name '%s' is not accepted: 1 to %d letters, digits, '-', '_' or '.' are",
                   QUOTED(name), KEY_NAME_MAX);
}

static int insert_row(struct db *db, const struct key_row *k, struct err *e)
{
    char scopes[SCOPES_TEXT_MAX];
    scoped(query) q = { 0 };
    if (key_name_check(k->name, e) || query_get(&q, db, SQL_KEY_INSERT, e))
        return -1;
    bind_text(&q, k->name);
    bind_blob(&q, k->hash, sizeof k->hash);
    bind_text(&q, scopes_format(k->scopes, scopes, sizeof scopes));
    bind_int(&q, k->max_runs);
    bind_int(&q, k->created_ms);
    if (query_run(&q, e) == 0)
        return 0;
    return e->code == ERR_CONFLICT ? err_set(e, ERR_CONFLICT, 0,
                                             "key '%s' already exists: remove it, or choose "
                                             "another name",
                                             k->name)
                                   : -1;
}

/* {"scopes":["run","read"],"max_runs":0}; the words need no escaping. */
static int added_detail(const struct key_row *k, struct buf *b, struct err *e)
{
    const char *comma = "";
    if (buf_addf(b, e, "{\"scopes\":["))
        return -1;
    for (int i = 0; i < SCOPE_COUNT_; i++) {
        if (!(k->scopes & SCOPE_BIT(i)))
            continue;
        if (buf_addf(b, e, "%s\"%s\"", comma, words[i]))
            return -1;
        comma = ",";
    }
    return buf_addf(b, e, "],\"max_runs\":%" PRIu32 "}", k->max_runs);
}

int keys_existed(struct db *db, bool *ret, struct err *e)
{
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_KEYS_EXISTED, e))
        return -1;
    int found = query_step(&q, e);
    if (found < 0)
        return -1;
    *ret = found > 0;
    return 0;
}

static int note_existence(struct db *db, struct err *e)
{
    scoped(query) q = { 0 };
    return query_get(&q, db, SQL_KEYS_EXISTED_SET, e) ? -1 : query_run(&q, e);
}

int keys_add(struct db *db, const struct key_row *k, const char *actor, struct err *e)
{
    scoped(buf) detail = { 0 };
    if (added_detail(k, &detail, e) || insert_row(db, k, e) || note_existence(db, e))
        return -1;
    const struct audit_record r = { .time_ms = k->created_ms,
                                    .kind = "key.added",
                                    .subject = k->name,
                                    .actor = actor,
                                    .detail = buf_str(&detail) };
    return audit_append(db, &r, e);
}

int keys_remove(struct db *db, const char *name, const char *actor, int64_t now_ms, struct err *e)
{
    const struct audit_record r = {
        .time_ms = now_ms, .kind = "key.removed", .subject = name, .actor = actor, .detail = "{}"
    };
    return query_remove(db, SQL_KEY_DELETE, "key", name, e) ? -1 : audit_append(db, &r, e);
}

static int take_key(struct query *q, struct key_row *k, struct err *e)
{
    size_t n;
    (void)snprintf(k->name, sizeof k->name, "%s", peek_text(q, NULL));
    const void *hash = peek_blob(q, &n);
    if (n != sizeof k->hash)
        return err_set(e, ERR_KERNEL, 0, "key '%s' has a damaged hash: remove it", k->name);
    memcpy(k->hash, hash, n);
    const char *scopes = peek_text(q, NULL);
    if (*scopes && scopes_parse(scopes, &k->scopes, e))
        return err_wrap(e, "key '%s'", k->name);
    k->max_runs = (uint32_t)take_int(q);
    k->created_ms = take_int(q);
    return 0;
}

int keys_list(struct db *db, struct key_row **ret, size_t *ret_n, struct err *e)
{
    autofree struct key_row *keys = NULL;
    size_t n = 0;
    scoped(query) q = { 0 };
    if (query_get(&q, db, SQL_KEY_LIST, e))
        return -1;
    int found;
    while ((found = query_step(&q, e)) > 0) {
        if (SQL_GROW(keys, n, e))
            return -1;
        if (take_key(&q, &keys[n++], e))
            return -1;
    }
    if (found < 0)
        return -1;
    *ret = keys;
    keys = NULL;
    *ret_n = n;
    return 0;
}
