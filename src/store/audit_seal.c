#include "store/audit_seal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "store/db_query.h"

static const char seals_file[] = "audit.seals", key_file[] = "audit.key";
/* The size of the file of seals: at one seal a minute, enough for seven years. */
enum {
    SEALS_MAX_BYTES = 1 << 30,
    LINE_MAX_BYTES = AUDIT_SEAL_LINE,
    LAST_BYTES = 2 * LINE_MAX_BYTES
};
static const char magic[8] = "BLJRSEAL";

static int failed(struct err *e, const char *what, const char *name)
{
    return err_set(e, ERR_KERNEL, errno, "%s STATE/%s", what, name);
}

/* ---- one seal ---- */

static void put_u64(uint8_t **at, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        *(*at)++ = (uint8_t)(v >> (56 - 8 * i));
}

static uint64_t get_u64(const uint8_t *at)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | at[i];
    return v;
}

enum { SIGNED_BYTES = 8 + 3 * 8 + DIGEST_BYTES + SEAL_KEY_BYTES };

/* The bytes that are signed. */
static void signed_bytes(const struct audit_seal *s, uint8_t ret[SIGNED_BYTES])
{
    uint8_t *at = ret + sizeof magic;
    memcpy(ret, magic, sizeof magic);
    put_u64(&at, s->epoch);
    put_u64(&at, (uint64_t)s->seq);
    put_u64(&at, (uint64_t)s->time_ms);
    memcpy(at, s->head, DIGEST_BYTES);
    memcpy(at + DIGEST_BYTES, s->next, SEAL_KEY_BYTES);
}

void audit_seal_format(const struct audit_seal *s, char line[AUDIT_SEAL_LINE])
{
    char head[2 * DIGEST_BYTES + 1], next[SEAL_KEY_HEX], signature[2 * SEAL_SIGNATURE_BYTES + 1];
    (void)snprintf(line, AUDIT_SEAL_LINE, "seal %" PRIu64 " %" PRId64 " %s %" PRId64 " %s %s",
                   s->epoch, s->seq, sodium_bin2hex(head, sizeof head, s->head, DIGEST_BYTES),
                   s->time_ms, sodium_bin2hex(next, sizeof next, s->next, SEAL_KEY_BYTES),
                   sodium_bin2hex(signature, sizeof signature, s->signature, SEAL_SIGNATURE_BYTES));
}

static bool from_hex(const char *hex, uint8_t *ret, size_t n)
{
    size_t got = 0;
    return strlen(hex) == 2 * n && sodium_hex2bin(ret, n, hex, 2 * n, NULL, &got, NULL) == 0 &&
           got == n;
}

static bool parse_seal(const char *line, struct audit_seal *ret)
{
    char head[80], next[80], signature[160];
    struct audit_seal s = { 0 };
    int end = 0;
    if (sscanf(line, "seal %" SCNu64 " %" SCNd64 " %79s %" SCNd64 " %79s %159s%n", &s.epoch, &s.seq,
               head, &s.time_ms, next, signature, &end) != 6 ||
        line[end] != '\0' || !from_hex(head, s.head, DIGEST_BYTES) ||
        !from_hex(next, s.next, SEAL_KEY_BYTES) ||
        !from_hex(signature, s.signature, SEAL_SIGNATURE_BYTES))
        return false;
    *ret = s;
    return true;
}

/* ---- checking ---- */

void audit_seals_done(struct audit_seals *s)
{
    free(s->at);
    *s = (struct audit_seals){ 0 };
}

/* Each seal is signed by the key that the seal before it names. */
static bool follows(const struct audit_seals *all, const uint8_t first[SEAL_KEY_BYTES],
                    const struct audit_seal *s)
{
    uint8_t bytes[SIGNED_BYTES];
    size_t n = all->n;
    signed_bytes(s, bytes);
    const struct audit_seal *last = n ? &all->at[n - 1] : NULL;
    if (s->epoch != (last ? last->epoch + 1 : 0) || (last && s->seq < last->seq))
        return false;
    return crypto_sign_verify_detached(s->signature, bytes, sizeof bytes,
                                       last ? last->next : first) == 0;
}

static int bad_line(struct err *e, size_t line)
{
    return err_set(
        e, ERR_CONFLICT, 0,
        "line %zu of the seals does not follow from the lines before it: it was changed, "
        "or lines are missing",
        line);
}

static int add_line(struct audit_seals *all, const uint8_t first[SEAL_KEY_BYTES], const char *text,
                    struct err *e)
{
    struct audit_seal s;
    if (!parse_seal(text, &s) || !follows(all, first, &s))
        return bad_line(e, all->n + 2);
    if (SQL_GROW(all->at, all->n, e))
        return -1;
    all->at[all->n++] = s;
    return 0;
}

int audit_seals_parse(struct audit_seals *ret, const struct buf *text, struct err *e)
{
    scoped(audit_seals) all = { 0 };
    uint8_t first[SEAL_KEY_BYTES];
    const char *at = buf_str(text), *end = at + text->len;
    for (size_t line = 1; at < end; line++) {
        char one[LINE_MAX_BYTES];
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline) /* a write that a crash cut off: nobody was told of it */
            break;
        (void)snprintf(one, sizeof one, "%.*s", (int)(newline - at), at);
        at = newline + 1;
        if (line == 1) {
            (void)snprintf(all.first, sizeof all.first, "%s",
                           strncmp(one, "key ", 4) == 0 ? one + 4 : "");
            if (!from_hex(all.first, first, sizeof first))
                return bad_line(e, line);
        } else if (add_line(&all, first, one, e)) {
            return -1;
        }
    }
    if (!all.first[0])
        return bad_line(e, 1);
    sql_move(ret, &all, sizeof all);
    return 0;
}

int audit_seals_read(struct audit_seals *ret, int dir_fd, struct err *e)
{
    scoped(buf) text = { 0 };
    autoclose int fd = openat(dir_fd, seals_file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return err_set(e, ERR_NOT_FOUND, 0, "there is no STATE/%s", seals_file);
    if (fd < 0)
        return failed(e, "open", seals_file);
    if (sodium_init() < 0 || fd_read_to_buf(fd, SEALS_MAX_BYTES, &text, e))
        return err_wrap(e, "read STATE/%s", seals_file);
    return audit_seals_parse(ret, &text, e);
}

/* ---- the secret ---- */

/* Alone in its page. */
struct secret {
    uint8_t seed[crypto_sign_SEEDBYTES], next[crypto_sign_SEEDBYTES];
    uint8_t key[crypto_sign_SECRETKEYBYTES];
    uint8_t file[sizeof magic + 8 + crypto_sign_SEEDBYTES];
};

struct audit_sealer {
    int dir_fd;
    uint64_t epoch;
    struct secret *secret;
    struct audit_seal last; /* seq 0: none */
};

enum { SECRET_PAGE = 4096, STACK_USED = 16 << 10 };
static_assert(sizeof(struct secret) <= SECRET_PAGE, "a secret fits its page");

static int make_page(struct secret **ret, struct err *e)
{
    void *page = mmap(NULL, SECRET_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
    if (page == MAP_FAILED)
        return err_no_memory(e, "the key of the audit log");
    if (madvise(page, SECRET_PAGE, MADV_WIPEONFORK) < 0 ||
        madvise(page, SECRET_PAGE, MADV_DONTDUMP) < 0) {
        (void)!err_set(e, ERR_KERNEL, errno, "keep the key of the audit log from other processes");
        (void)munmap(page, SECRET_PAGE);
        return -1;
    }
    (void)mlock(page, SECRET_PAGE); /* where it is not possible, the swap may get it */
    *ret = page;
    return 0;
}

/* In place: a new file would leave the old secret in blocks that are free. */
static int write_key(const struct audit_sealer *s, struct err *e)
{
    uint8_t *at = s->secret->file + sizeof magic;
    memcpy(s->secret->file, magic, sizeof magic);
    put_u64(&at, s->epoch);
    memcpy(at, s->secret->seed, sizeof s->secret->seed);
    autoclose int fd = openat(s->dir_fd, key_file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                              0600);
    ssize_t n = fd < 0 ? -1 : pwrite(fd, s->secret->file, sizeof s->secret->file, 0);
    sodium_memzero(s->secret->file, sizeof s->secret->file);
    if (n != (ssize_t)sizeof s->secret->file || fdatasync(fd) < 0)
        return failed(e, "write", key_file);
    return 0;
}

/* 1: read, 0: there is none, -1. */
static int read_key(struct audit_sealer *s, struct err *e)
{
    struct stat st;
    autoclose int fd = openat(s->dir_fd, key_file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return failed(e, "open", key_file);
    uint8_t *file = s->secret->file;
    ssize_t n = pread(fd, file, sizeof s->secret->file, 0);
    if (n == 0)
        return 0;
    if (n != (ssize_t)sizeof s->secret->file || memcmp(file, magic, sizeof magic) != 0 ||
        st.st_uid != geteuid() || (st.st_mode & 077))
        return err_set(
            e, ERR_DENIED, 0,
            "STATE/%s is not a key that this program wrote for itself alone: move it and "
            "STATE/%s away, and new seals begin",
            key_file, seals_file);
    s->epoch = get_u64(file + sizeof magic);
    memcpy(s->secret->seed, file + sizeof magic + 8, sizeof s->secret->seed);
    sodium_memzero(file, sizeof s->secret->file);
    return 1;
}

/* One way: the seed of an epoch does not follow from the next. */
static void next_seed(struct secret *k)
{
    static const uint8_t label[] = "belljar audit seal, next epoch";
    (void)crypto_generichash(k->next, sizeof k->next, label, sizeof label, k->seed, sizeof k->seed);
}

static int evolve(struct audit_sealer *s, struct err *e)
{
    struct secret *k = s->secret;
    next_seed(k);
    memcpy(k->seed, k->next, sizeof k->seed);
    sodium_memzero(k->next, sizeof k->next);
    s->epoch++;
    return write_key(s, e);
}

/* ---- sealing ---- */

static int append(const struct audit_sealer *s, const char *text, size_t n, struct err *e)
{
    struct stat st;
    autoclose int fd = openat(s->dir_fd, seals_file,
                              O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 || fstat(fd, &st) < 0)
        return failed(e, "open", seals_file);
    if (write(fd, text, n) == (ssize_t)n && fdatasync(fd) == 0)
        return 0;
    (void)failed(e, "write", seals_file);
    if (ftruncate(fd, st.st_size) < 0) /* half a line would end the file for its readers */
        return -1;
    return -1;
}

/* The last whole line. A half one is cut off. *ret_lines: 0, 1 (the key alone), or 2 (there are
 * seals). */
static int read_last(struct audit_sealer *s, int *ret_lines, struct err *e)
{
    struct stat st;
    char text[LAST_BYTES + 1];
    *ret_lines = 0;
    autoclose int fd = openat(s->dir_fd, seals_file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return failed(e, "open", seals_file);
    off_t from = st.st_size > LAST_BYTES ? st.st_size - LAST_BYTES : 0;
    ssize_t n = pread(fd, text, LAST_BYTES, from);
    if (n < 0)
        return failed(e, "read", seals_file);
    while (n > 0 && text[n - 1] != '\n')
        n--;
    if (ftruncate(fd, from + n) < 0)
        return failed(e, "cut", seals_file);
    if (n == 0)
        return 0;
    text[--n] = '\0';
    const char *line = memrchr(text, '\n', (size_t)n);
    *ret_lines = line || from ? 2 : 1;
    if (*ret_lines == 2 && !parse_seal(line ? line + 1 : text, &s->last))
        return err_set(e, ERR_CONFLICT, 0,
                       "the last line of STATE/%s is no seal: move it and STATE/%s away, and new "
                       "seals begin",
                       seals_file, key_file);
    return 0;
}

static int begin_seals(struct audit_sealer *s, struct err *e)
{
    uint8_t public[crypto_sign_PUBLICKEYBYTES];
    char hex[SEAL_KEY_HEX], line[LINE_MAX_BYTES];
    randombytes_buf(s->secret->seed, sizeof s->secret->seed);
    (void)crypto_sign_seed_keypair(public, s->secret->key, s->secret->seed);
    int n = snprintf(line, sizeof line, "key %s\n",
                     sodium_bin2hex(hex, sizeof hex, public, sizeof public));
    if (unlinkat(s->dir_fd, seals_file, 0) < 0 && errno != ENOENT)
        return failed(e, "begin", seals_file);
    return append(s, line, (size_t)n, e) || write_key(s, e) ? -1 : 0;
}

static int go_on(struct audit_sealer *s, struct err *e)
{
    int lines, has_key = read_key(s, e);
    if (has_key < 0 || read_last(s, &lines, e))
        return -1;
    if (!has_key && lines < 2)
        return begin_seals(s, e);
    if (!has_key || lines == 0)
        return err_set(e, ERR_CONFLICT, 0,
                       "STATE/%s is missing, and STATE/%s needs it: put it back, or move the other "
                       "one away, and new seals begin",
                       has_key ? seals_file : key_file, has_key ? key_file : seals_file);
    /* It was stopped between the seal and the next epoch. */
    return lines == 2 && s->last.epoch == s->epoch ? evolve(s, e) : 0;
}

void audit_sealer_close(struct audit_sealer *s)
{
    if (!s)
        return;
    if (s->secret) {
        sodium_memzero(s->secret, SECRET_PAGE);
        (void)munmap(s->secret, SECRET_PAGE);
    }
    free(s);
}

int audit_sealer_open(struct audit_sealer **ret, int dir_fd, struct err *e)
{
    struct audit_sealer *s = calloc(1, sizeof *s);
    if (!s || sodium_init() < 0) {
        free(s);
        return err_no_memory(e, "the key of the audit log");
    }
    s->dir_fd = dir_fd;
    int rc = make_page(&s->secret, e) || go_on(s, e) ? -1 : 0;
    sodium_stackzero(STACK_USED); /* children inherit the stack */
    if (rc)
        audit_sealer_close(s);
    else
        *ret = s;
    return rc;
}

static int make_seal(struct audit_sealer *s, struct audit_seal *seal, struct err *e)
{
    struct secret *k = s->secret;
    uint8_t public[crypto_sign_PUBLICKEYBYTES], bytes[SIGNED_BYTES];
    char line[LINE_MAX_BYTES];
    next_seed(k);
    (void)crypto_sign_seed_keypair(seal->next, k->key, k->next);
    (void)crypto_sign_seed_keypair(public, k->key, k->seed);
    signed_bytes(seal, bytes);
    (void)crypto_sign_detached(seal->signature, NULL, bytes, sizeof bytes, k->key);
    sodium_memzero(k->key, sizeof k->key);
    audit_seal_format(seal, line);
    size_t n = strlen(line);
    line[n++] = '\n';
    if (append(s, line, n, e))
        return -1;
    s->last = *seal;
    return evolve(s, e);
}

int audit_sealer_seal(struct audit_sealer *s, int64_t seq, const uint8_t head[DIGEST_BYTES],
                      int64_t now_ms, struct err *e)
{
    const struct audit_seal *last = &s->last;
    bool same = seq == last->seq && memcmp(head, last->head, DIGEST_BYTES) == 0;
    if (same || seq <= 0)
        return 0;
    if (seq <= last->seq)
        return err_set(e, ERR_CONFLICT, 0,
                       "the audit log ends with record %" PRId64 ", and record %" PRId64
                       " was sealed with another hash: see 'belljar audit verify'",
                       seq, last->seq);
    struct audit_seal seal = { .epoch = s->epoch, .seq = seq, .time_ms = now_ms };
    memcpy(seal.head, head, DIGEST_BYTES);
    int rc = make_seal(s, &seal, e);
    sodium_stackzero(STACK_USED);
    return rc;
}
