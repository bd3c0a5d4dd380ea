#include "store/audit_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "store/db_query.h"

/* ---- one line ---- */

static const char seal_magic[] = "BLJRSEAL", block_magic[] = "BLJRBLCK";
enum { MAGIC_BYTES = 8, HEX_MAX = 2 * SEAL_SIGNATURE_BYTES + 1 };

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

static uint8_t *put_u64(uint8_t *at, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        *at++ = (uint8_t)(v >> (56 - 8 * i));
    return at;
}

size_t audit_seal_signed(const struct audit_seal *s, uint8_t ret[AUDIT_SIGNED_BYTES])
{
    uint8_t *at = put_bytes(ret, seal_magic, MAGIC_BYTES);
    at = put_u64(at, s->epoch);
    at = put_u64(at, (uint64_t)s->seq);
    at = put_u64(at, (uint64_t)s->time_ms);
    at = put_bytes(at, s->head, sizeof s->head);
    at = put_bytes(at, s->next, sizeof s->next);
    return (size_t)(at - ret);
}

size_t audit_block_signed(const struct audit_block *b, uint8_t ret[AUDIT_SIGNED_BYTES])
{
    uint8_t *at = put_bytes(ret, block_magic, MAGIC_BYTES);
    at = put_u64(at, b->number);
    at = put_u64(at, b->epoch);
    at = put_u64(at, (uint64_t)b->seq);
    at = put_u64(at, (uint64_t)b->time_ms);
    at = put_bytes(at, b->head, sizeof b->head);
    at = put_bytes(at, b->key, sizeof b->key);
    at = put_bytes(at, b->next, sizeof b->next);
    return (size_t)(at - ret);
}

static const char *hex(char ret[HEX_MAX], const uint8_t *bytes, size_t n)
{
    return sodium_bin2hex(ret, HEX_MAX, bytes, n);
}

void audit_seal_format(const struct audit_seal *s, char line[AUDIT_SEAL_LINE])
{
    char head[HEX_MAX], next[HEX_MAX], signature[HEX_MAX];
    (void)snprintf(line, AUDIT_SEAL_LINE, "seal %" PRIu64 " %" PRId64 " %s %" PRId64 " %s %s",
                   s->epoch, s->seq, hex(head, s->head, sizeof s->head), s->time_ms,
                   hex(next, s->next, sizeof s->next),
                   hex(signature, s->signature, sizeof s->signature));
}

void audit_block_format(const struct audit_block *b, char line[AUDIT_SEAL_LINE])
{
    char head[HEX_MAX], key[HEX_MAX], next[HEX_MAX], signature[HEX_MAX];
    (void)snprintf(line, AUDIT_SEAL_LINE,
                   "block %" PRIu64 " %" PRIu64 " %" PRId64 " %s %" PRId64 " %s %s %s", b->number,
                   b->epoch, b->seq, hex(head, b->head, sizeof b->head), b->time_ms,
                   hex(key, b->key, sizeof b->key), hex(next, b->next, sizeof b->next),
                   hex(signature, b->signature, sizeof b->signature));
}

static bool from_hex(const char *text, uint8_t *ret, size_t n)
{
    size_t got = 0;
    return strlen(text) == 2 * n && sodium_hex2bin(ret, n, text, 2 * n, NULL, &got, NULL) == 0 &&
           got == n;
}

bool audit_seal_parse(const char *line, struct audit_seal *ret)
{
    char head[80], next[80], signature[160];
    struct audit_seal s = { 0 };
    int end = 0;
    if (sscanf(line, "seal %" SCNu64 " %" SCNd64 " %79s %" SCNd64 " %79s %159s%n", &s.epoch, &s.seq,
               head, &s.time_ms, next, signature, &end) != 6 ||
        line[end] != '\0' || !from_hex(head, s.head, sizeof s.head) ||
        !from_hex(next, s.next, sizeof s.next) ||
        !from_hex(signature, s.signature, sizeof s.signature))
        return false;
    *ret = s;
    return true;
}

bool audit_block_parse(const char *line, struct audit_block *ret)
{
    char head[80], key[80], next[80], signature[160];
    struct audit_block b = { 0 };
    int end = 0;
    if (sscanf(line, "block %" SCNu64 " %" SCNu64 " %" SCNd64 " %79s %" SCNd64 " %79s %79s %159s%n",
               &b.number, &b.epoch, &b.seq, head, &b.time_ms, key, next, signature, &end) != 8 ||
        line[end] != '\0' || !from_hex(head, b.head, sizeof b.head) ||
        !from_hex(key, b.key, sizeof b.key) || !from_hex(next, b.next, sizeof b.next) ||
        !from_hex(signature, b.signature, sizeof b.signature))
        return false;
    *ret = b;
    return true;
}

/* ---- checking ---- */

void audit_seals_done(struct audit_seals *s)
{
    free(s->at);
    free(s->blocks);
    *s = (struct audit_seals){ 0 };
}

/* The next line must be of this epoch, with this key, and not before this record. */
struct seal_reading {
    struct audit_seals all;
    struct audit_seal place; /* .next: the public key of .epoch */
    bool in_block;           /* a seal of a block was read, so none may be missing from now on */
};

static void seal_reading_done(struct seal_reading *r)
{
    audit_seals_done(&r->all);
}

/* Each seal is signed by the key that the seal before it names, or the line of its block. */
static bool seal_follows(const struct seal_reading *r, const struct audit_seal *s)
{
    uint8_t bytes[AUDIT_SIGNED_BYTES];
    size_t n = audit_seal_signed(s, bytes);
    return s->epoch == r->place.epoch && s->seq >= r->place.seq &&
           crypto_sign_verify_detached(s->signature, bytes, n, r->place.next) == 0;
}

static int add_seal(struct seal_reading *r, const struct audit_seal *s, struct err *e)
{
    if (SQL_GROW(r->all.at, r->all.n, e))
        return -1;
    r->all.at[r->all.n++] = *s;
    r->place = *s;
    r->place.epoch++;
    r->in_block = r->all.n_blocks > 0;
    return 0;
}

static bool begins_here(const struct audit_seal *place, const struct audit_block *b)
{
    return b->epoch == place->epoch && b->seq == place->seq && b->time_ms == place->time_ms &&
           memcmp(b->head, place->head, sizeof b->head) == 0 &&
           memcmp(b->key, place->next, sizeof b->key) == 0;
}

static bool block_follows(const struct seal_reading *r, const struct audit_block *b)
{
    uint8_t bytes[AUDIT_SIGNED_BYTES];
    size_t n = audit_block_signed(b, bytes), blocks = r->all.n_blocks;
    bool dropped = blocks > 0 && !r->in_block && b->epoch > r->place.epoch && b->seq > r->place.seq;
    return b->number == blocks && (dropped || begins_here(&r->place, b)) &&
           crypto_sign_verify_detached(b->signature, bytes, n,
                                       blocks ? r->all.blocks[blocks - 1].next : r->place.next) ==
               0;
}

static int add_block(struct seal_reading *r, const struct audit_block *b, struct err *e)
{
    struct audit_seals *all = &r->all;
    if (SQL_GROW(all->blocks, all->n_blocks, e))
        return -1;
    if (b->epoch != r->place.epoch) {
        all->dropped = b->epoch - all->blocks[0].epoch;
        all->dropped_seq = b->seq;
    }
    all->blocks[all->n_blocks++] = *b;
    r->place = (struct audit_seal){ .epoch = b->epoch, .seq = b->seq, .time_ms = b->time_ms };
    memcpy(r->place.head, b->head, sizeof b->head);
    memcpy(r->place.next, b->key, sizeof b->key);
    return 0;
}

static int bad_line(struct err *e, size_t line)
{
    return err_set(
        e, ERR_CONFLICT, 0,
        "line %zu of the seals does not follow from the lines before it: it was changed, "
        "or lines are missing",
        line);
}

static int add_line(struct seal_reading *r, const char *text, size_t line, struct err *e)
{
    struct audit_seal s;
    struct audit_block b;
    if (audit_seal_parse(text, &s) && seal_follows(r, &s))
        return add_seal(r, &s, e);
    if (audit_block_parse(text, &b) && block_follows(r, &b))
        return add_block(r, &b, e);
    return bad_line(e, line);
}

static bool read_first(struct seal_reading *r, const char *text)
{
    (void)snprintf(r->all.first, sizeof r->all.first, "%s",
                   strncmp(text, "key ", 4) == 0 ? text + 4 : "");
    return from_hex(r->all.first, r->place.next, sizeof r->place.next);
}

int audit_seals_parse(struct audit_seals *ret, const struct buf *text, struct err *e)
{
    scoped(seal_reading) r = { 0 };
    const char *at = buf_str(text), *end = at + text->len;
    for (size_t line = 1; at < end; line++) {
        char one[AUDIT_SEAL_LINE];
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline) /* a write that a crash cut off: nobody was told of it */
            break;
        (void)snprintf(one, sizeof one, "%.*s", (int)(newline - at), at);
        at = newline + 1;
        if (line > 1 ? add_line(&r, one, line, e) != 0 : !read_first(&r, one))
            return line > 1 ? -1 : bad_line(e, line);
    }
    if (!r.all.first[0])
        return bad_line(e, 1);
    sql_move(ret, &r.all, sizeof r.all);
    return 0;
}

int audit_seals_read(struct audit_seals *ret, int dir_fd, struct err *e)
{
    scoped(buf) text = { 0 };
    autoclose int fd = openat(dir_fd, AUDIT_SEALS_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return err_set(e, ERR_NOT_FOUND, 0, "there is no STATE/" AUDIT_SEALS_FILE);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open STATE/" AUDIT_SEALS_FILE);
    if (sodium_init() < 0 || fd_read_to_buf(fd, AUDIT_SEALS_MAX_BYTES, &text, e))
        return err_wrap(e, "read STATE/" AUDIT_SEALS_FILE);
    return audit_seals_parse(ret, &text, e);
}
