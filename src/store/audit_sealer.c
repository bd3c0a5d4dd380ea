#include "store/audit_sealer.h"

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

static const char seals_file[] = AUDIT_SEALS_FILE, key_file[] = "audit.key";
enum { LAST_BYTES = 2 * AUDIT_SEAL_LINE, MAGIC_BYTES = 8 };
/* For SEAL-3: no log grows faster than this; the first seal may find a log of any sensible length. */
enum { RECORDS_A_SECOND = 100000 };
static const int64_t first_seq_max = INT64_C(1) << 40, seconds_max = INT64_C(1) << 32;

static int failed(struct err *e, const char *what, const char *name)
{
    return err_set(e, ERR_KERNEL, errno, "%s STATE/%s", what, name);
}

/* ---- the secrets ---- */

/* The key file has two places. The older version wrote the first three members alone, with another
 * magic, at the beginning of the file. */
struct key_place {
    char magic[MAGIC_BYTES];
    uint8_t epoch[8];
    uint8_t seed[crypto_sign_SEEDBYTES];
    uint8_t block[8];
    uint8_t block_seed[crypto_sign_SEEDBYTES];
    uint8_t sum[crypto_generichash_BYTES_MIN];
};
enum { PLACE_BYTES = 4096, OLD_KEY_BYTES = MAGIC_BYTES + 8 + crypto_sign_SEEDBYTES };
static const char key_magic[MAGIC_BYTES + 1] = "BLJRKEY2", old_magic[MAGIC_BYTES + 1] = "BLJRSEAL";

/* Alone in its page. */
struct secret {
    uint8_t seed[crypto_sign_SEEDBYTES], block_seed[crypto_sign_SEEDBYTES];
    uint8_t next[crypto_sign_SEEDBYTES];
    uint8_t key[crypto_sign_SECRETKEYBYTES];
    struct key_place file;
};

struct audit_sealer {
    int dir_fd;
    unsigned block_epochs;
    uint64_t epoch, block; /* of the next seal; of the next line of a block, from 1 on */
    uint64_t block_at;     /* the line of the block that begins with this epoch is written */
    struct secret *secret;
    int place;              /* of the key file: has the current secrets */
    bool is_on_disk;        /* SEAL-4 */
    struct audit_seal last; /* seq 0: none; .next is valid even then */
    int64_t drop_above;     /* no block can be dropped up to this record; -1: not known */
};

enum { SECRET_PAGE = 4096, STACK_USED = 16 << 10 };
static_assert(sizeof(struct secret) <= SECRET_PAGE, "a secret fits its page");
static_assert(offsetof(struct key_place, block) == OLD_KEY_BYTES, "no padding");

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

static void put_u64(uint8_t ret[8], uint64_t v)
{
    for (int i = 0; i < 8; i++)
        ret[i] = (uint8_t)(v >> (56 - 8 * i));
}

static uint64_t get_u64(const uint8_t *at)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | at[i];
    return v;
}

static void sum_of(const struct key_place *p, uint8_t ret[sizeof p->sum])
{
    (void)crypto_generichash(ret, sizeof p->sum, (const uint8_t *)p,
                             offsetof(struct key_place, sum), NULL, 0);
}

static bool put_place(int fd, int place, const struct key_place *p)
{
    return pwrite(fd, p, sizeof *p, (off_t)place * PLACE_BYTES) == (ssize_t)sizeof *p &&
           fdatasync(fd) == 0;
}

/* First the new secrets into the empty place, then zeros over the old ones: after a crash at any
 * moment one place is whole. In place: a new file would leave the old secrets in free blocks. */
static int write_key(struct audit_sealer *s, struct err *e)
{
    struct key_place *p = &s->secret->file;
    s->is_on_disk = false;
    memcpy(p->magic, key_magic, sizeof p->magic);
    put_u64(p->epoch, s->epoch);
    put_u64(p->block, s->block);
    memcpy(p->seed, s->secret->seed, sizeof p->seed);
    memcpy(p->block_seed, s->secret->block_seed, sizeof p->block_seed);
    sum_of(p, p->sum);
    autoclose int fd = openat(s->dir_fd, key_file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                              0600);
    bool ok = fd >= 0 && put_place(fd, !s->place, p);
    sodium_memzero(p, sizeof *p);
    if (!ok || !put_place(fd, s->place, p))
        return failed(e, "write", key_file);
    s->place = !s->place;
    s->is_on_disk = true;
    return 0;
}

static void take_secrets(struct audit_sealer *s, const struct key_place *p)
{
    s->epoch = get_u64(p->epoch);
    memcpy(s->secret->seed, p->seed, sizeof p->seed);
    s->block = get_u64(p->block);
    memcpy(s->secret->block_seed, p->block_seed, sizeof p->block_seed);
}

static bool is_whole(const struct key_place *p)
{
    uint8_t sum[sizeof p->sum];
    sum_of(p, sum);
    return memcmp(p->magic, key_magic, sizeof p->magic) == 0 &&
           memcmp(sum, p->sum, sizeof sum) == 0;
}

/* After a crash between the two writes both places are whole: the newer one counts. A key file of
 * the older version has no secret for blocks yet. *ret_n: the number of places that were read. */
static int read_places(struct audit_sealer *s, int fd, off_t size, int *ret_n, struct err *e)
{
    struct key_place *p = &s->secret->file;
    *ret_n = 0;
    for (int i = 0; i < 2; i++) {
        ssize_t n = pread(fd, p, sizeof *p, (off_t)i * PLACE_BYTES);
        if (n < 0)
            return failed(e, "read", key_file);
        bool old = n == OLD_KEY_BYTES && size == OLD_KEY_BYTES &&
                   memcmp(p->magic, old_magic, MAGIC_BYTES) == 0;
        if (old) {
            memset(p->block, 0, sizeof p->block);
            randombytes_buf(p->block_seed, sizeof p->block_seed);
            p->block[7] = 1;
        } else if (n != (ssize_t)sizeof *p || !is_whole(p)) {
            continue;
        }
        if ((*ret_n)++ == 0 || get_u64(p->epoch) > s->epoch ||
            (get_u64(p->epoch) == s->epoch && get_u64(p->block) > s->block)) {
            take_secrets(s, p);
            s->place = i;
        }
    }
    sodium_memzero(p, sizeof *p);
    return 0;
}

/* 1: read, 0: there is none, -1. */
static int read_key(struct audit_sealer *s, struct err *e)
{
    struct stat st;
    int n;
    autoclose int fd = openat(s->dir_fd, key_file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return failed(e, "open", key_file);
    if (st.st_size == 0)
        return 0;
    if (read_places(s, fd, st.st_size, &n, e))
        return -1;
    if (n > 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
        return 1;
    return err_set(e, ERR_DENIED, 0,
                   "STATE/%s is not a key that this program wrote for itself alone: move it and "
                   "STATE/%s away, and new seals begin",
                   key_file, seals_file);
}

/* Between two reads of a place, the secrets may move to the other one: then no place is whole. */
int audit_key_copy(int dir_fd, int to_fd, struct err *e)
{
    enum { READINGS = 100, BOTH = PLACE_BYTES + sizeof(struct key_place) };
    uint8_t bytes[BOTH];
    bool done = false;
    autoclose int fd = openat(dir_fd, key_file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_KERNEL, errno, "open STATE/%s",
                       key_file);
    for (int i = 0; i < READINGS && !done && sodium_init() >= 0; i++) {
        struct key_place at[2];
        memset(bytes, 0, sizeof bytes);
        ssize_t n = pread(fd, bytes, sizeof bytes, 0);
        memcpy(&at[0], bytes, sizeof at[0]);
        memcpy(&at[1], bytes + PLACE_BYTES, sizeof at[1]);
        done = n > 0 && (is_whole(&at[0]) || is_whole(&at[1]) ||
                         (n == OLD_KEY_BYTES && memcmp(bytes, old_magic, MAGIC_BYTES) == 0));
        sodium_memzero(at, sizeof at);
        if (done && fd_write_all(to_fd, bytes, (size_t)n)) {
            sodium_memzero(bytes, sizeof bytes);
            return failed(e, "copy", key_file);
        }
    }
    sodium_memzero(bytes, sizeof bytes);
    return done ? 0
                : err_set(e, ERR_CONFLICT, 0, "STATE/%s is not a key that this program wrote",
                          key_file);
}

/* One way: an earlier seed does not follow from a later one. */
static void next_seed(struct secret *k, const uint8_t *seed, bool of_block)
{
    static const char labels[2][40] = { "belljar audit seal, next epoch",
                                        "belljar audit seal, next block" };
    const char *label = labels[of_block];
    (void)crypto_generichash(k->next, sizeof k->next, (const uint8_t *)label, strlen(label) + 1,
                             seed, crypto_sign_SEEDBYTES);
}

static void forget_epoch(struct audit_sealer *s)
{
    struct secret *k = s->secret;
    next_seed(k, k->seed, false);
    memcpy(k->seed, k->next, sizeof k->seed);
    sodium_memzero(k->next, sizeof k->next);
    s->epoch++;
    s->is_on_disk = false;
}

static void forget_block(struct audit_sealer *s)
{
    struct secret *k = s->secret;
    next_seed(k, k->block_seed, true);
    memcpy(k->block_seed, k->next, sizeof k->block_seed);
    sodium_memzero(k->next, sizeof k->next);
    s->block++;
    s->is_on_disk = false;
}

static void public_of(struct secret *k, const uint8_t *seed, uint8_t ret[SEAL_KEY_BYTES])
{
    (void)crypto_sign_seed_keypair(ret, k->key, seed);
    sodium_memzero(k->key, sizeof k->key);
}

static void sign(struct secret *k, const uint8_t *seed, const uint8_t *bytes, size_t n,
                 uint8_t ret[SEAL_SIGNATURE_BYTES])
{
    uint8_t public[SEAL_KEY_BYTES];
    (void)crypto_sign_seed_keypair(public, k->key, seed);
    (void)crypto_sign_detached(ret, NULL, bytes, n, k->key);
    sodium_memzero(k->key, sizeof k->key);
}

/* ---- the file of seals ---- */

/* line[] has room for the newline. */
static int append(const struct audit_sealer *s, char line[AUDIT_SEAL_LINE], struct err *e)
{
    struct stat st;
    size_t n = strlen(line);
    line[n++] = '\n';
    autoclose int fd = openat(s->dir_fd, seals_file,
                              O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 || fstat(fd, &st) < 0)
        return failed(e, "open", seals_file);
    if (st.st_size > AUDIT_SEALS_MAX_BYTES - (off_t)n)
        return err_set(e, ERR_CONFLICT, 0,
                       "STATE/%s is full: lower audit.max_bytes or audit.max_age, so that old "
                       "records and their seals go",
                       seals_file);
    if (write(fd, line, n) == (ssize_t)n && fdatasync(fd) == 0)
        return 0;
    (void)failed(e, "write", seals_file);
    if (ftruncate(fd, st.st_size) < 0) /* half a line would end the file for its readers */
        return -1;
    return -1;
}

static int no_seal(struct err *e)
{
    return err_set(e, ERR_CONFLICT, 0,
                   "the last line of STATE/%s is no seal: move it and STATE/%s away, and new seals "
                   "begin",
                   seals_file, key_file);
}

/* The place where the seals go on. */
static int take_last(struct audit_sealer *s, const char *line, struct err *e)
{
    struct audit_block b;
    if (audit_seal_parse(line, &s->last))
        return 0;
    if (!audit_block_parse(line, &b))
        return no_seal(e);
    s->last = (struct audit_seal){ .epoch = b.epoch - 1, .seq = b.seq, .time_ms = b.time_ms };
    memcpy(s->last.head, b.head, sizeof b.head);
    memcpy(s->last.next, b.key, sizeof b.key);
    s->block_at = b.epoch;
    if (b.number == s->block) /* it was stopped between the line and the next secret */
        forget_block(s);
    return 0;
}

/* The last whole line. A half one is cut off. *ret_lines: 0, 1 (the key alone), or 2 (there are
 * more). */
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
    if (*ret_lines == 1) /* "key PUBLIC" */
        return sodium_hex2bin(s->last.next, sizeof s->last.next, text + 4, strlen(text + 4), NULL,
                              NULL, NULL) == 0
                   ? 0
                   : no_seal(e);
    return take_last(s, line ? line + 1 : text, e);
}

/* ---- blocks ---- */

static int begin_block(struct audit_sealer *s, uint64_t number, struct err *e)
{
    struct secret *k = s->secret;
    uint8_t bytes[AUDIT_SIGNED_BYTES];
    char line[AUDIT_SEAL_LINE];
    struct audit_block b = {
        .number = number, .epoch = s->epoch, .seq = s->last.seq, .time_ms = s->last.time_ms
    };
    memcpy(b.head, s->last.head, sizeof b.head);
    public_of(k, k->seed, b.key);
    if (number > 0)
        next_seed(k, k->block_seed, true);
    public_of(k, number > 0 ? k->next : k->block_seed, b.next);
    sodium_memzero(k->next, sizeof k->next);
    sign(k, number > 0 ? k->block_seed : k->seed, bytes, audit_block_signed(&b, bytes),
         b.signature);
    audit_block_format(&b, line);
    if (append(s, line, e))
        return -1;
    s->block_at = s->epoch;
    if (s->drop_above == INT64_MAX)
        s->drop_above = b.seq;
    if (number == 0)
        return 0;
    forget_block(s);
    return write_key(s, e);
}

static void close_file(FILE **f)
{
    if (*f)
        (void)fclose(*f);
}

static FILE *read_seals(const struct audit_sealer *s, struct err *e)
{
    autoclose int fd = openat(s->dir_fd, seals_file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "re");
    if (f)
        (void)fd_take(&fd);
    else
        (void)failed(e, "read", seals_file);
    return f;
}

/* 1: the file has the line of a block, 0, -1. */
static int has_block(const struct audit_sealer *s, struct err *e)
{
    char line[AUDIT_SEAL_LINE];
    __attribute__((cleanup(close_file))) FILE *f = read_seals(s, e);
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "block ", 6) == 0)
            return 1;
    return 0;
}

/* The last block whose line tells that all records before it are removed. 0: there is nothing to
 * drop. */
static int find_drop(struct audit_sealer *s, int64_t removed_seq, uint64_t *ret_keep, struct err *e)
{
    char line[AUDIT_SEAL_LINE];
    struct audit_block b;
    bool in_block = false, seals = false; /* a seal of a block was met */
    *ret_keep = 0;
    s->drop_above = INT64_MAX;
    __attribute__((cleanup(close_file))) FILE *f = read_seals(s, e);
    if (!f)
        return -1;
    while (s->drop_above == INT64_MAX && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        seals |= in_block && strncmp(line, "seal ", 5) == 0;
        if (!audit_block_parse(line, &b))
            continue;
        in_block = true;
        if (b.number > 0 && b.seq >= removed_seq)
            s->drop_above = b.seq;
        else if (seals)
            *ret_keep = b.number;
    }
    return 0;
}

/* The key, the lines of all blocks, and the seals before the first block and from block `keep` on. */
static bool copy_kept(FILE *from, FILE *to, uint64_t keep)
{
    char line[AUDIT_SEAL_LINE];
    unsigned long long number = 0;
    bool in_block = false, ok = true;
    while (ok && fgets(line, sizeof line, from)) {
        bool is_block = sscanf(line, "block %llu ", &number) == 1;
        in_block |= is_block;
        if (is_block || !in_block || number >= keep)
            ok = fputs(line, to) >= 0;
    }
    return ok && !ferror(from) && fflush(to) == 0 && fdatasync(fileno(to)) == 0;
}

static int rewrite(struct audit_sealer *s, uint64_t keep, struct err *e)
{
    static const char new_file[] = "audit.seals.new";
    __attribute__((cleanup(close_file))) FILE *from = read_seals(s, e);
    if (!from)
        return -1;
    (void)unlinkat(s->dir_fd, new_file, 0);
    autoclose int fd = openat(s->dir_fd, new_file,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    __attribute__((cleanup(close_file))) FILE *to = fd < 0 ? NULL : fdopen(fd, "we");
    if (to)
        (void)fd_take(&fd);
    if (!to || !copy_kept(from, to, keep) ||
        renameat(s->dir_fd, new_file, s->dir_fd, seals_file) < 0) {
        (void)failed(e, "write", new_file);
        (void)unlinkat(s->dir_fd, new_file, 0);
        return -1;
    }
    return fsync(s->dir_fd) < 0 ? failed(e, "write", "") : 0;
}

int audit_sealer_drop(struct audit_sealer *s, int64_t removed_seq, struct err *e)
{
    uint64_t keep;
    if (removed_seq <= s->drop_above || removed_seq <= 0)
        return 0;
    if (find_drop(s, removed_seq, &keep, e))
        return -1;
    return keep ? rewrite(s, keep, e) : 0;
}

/* ---- sealing ---- */

static int begin_seals(struct audit_sealer *s, struct err *e)
{
    struct secret *k = s->secret;
    char hex[SEAL_KEY_HEX], line[AUDIT_SEAL_LINE];
    randombytes_buf(k->seed, sizeof k->seed);
    randombytes_buf(k->block_seed, sizeof k->block_seed);
    s->block = 1;
    public_of(k, k->seed, s->last.next);
    (void)snprintf(line, sizeof line, "key %s",
                   sodium_bin2hex(hex, sizeof hex, s->last.next, sizeof s->last.next));
    if (unlinkat(s->dir_fd, seals_file, 0) < 0 && errno != ENOENT)
        return failed(e, "begin", seals_file);
    return append(s, line, e) || write_key(s, e) || begin_block(s, 0, e) ? -1 : 0;
}

/* The key may be older than the last seal if it could not be written. It is never newer. */
static int catch_up(struct audit_sealer *s, int lines, struct err *e)
{
    enum { EPOCHS_MAX = 1 << 20 };
    uint8_t public[SEAL_KEY_BYTES];
    uint64_t epoch = lines == 2 ? s->last.epoch + 1 : 0;
    for (int i = 0; i < EPOCHS_MAX && s->epoch < epoch; i++)
        forget_epoch(s);
    public_of(s->secret, s->secret->seed, public);
    if (s->epoch == epoch && memcmp(public, s->last.next, sizeof public) == 0)
        return 0;
    return err_set(e, ERR_CONFLICT, 0,
                   "STATE/%s ends with epoch %" PRIu64 ", and STATE/%s is the key of epoch %" PRIu64
                   ": seals are missing, or one of these files is another's; put back the right "
                   "one, or move both away, and new seals begin",
                   seals_file, epoch, key_file, s->epoch);
}

static int go_on(struct audit_sealer *s, struct err *e)
{
    int lines, has_key = read_key(s, e), has_line = 1;
    if (has_key < 0 || read_last(s, &lines, e))
        return -1;
    if (!has_key && lines < 2)
        return begin_seals(s, e);
    if (!has_key || lines == 0)
        return err_set(e, ERR_CONFLICT, 0,
                       "STATE/%s is missing, and STATE/%s needs it: put it back, or move the other "
                       "one away, and new seals begin",
                       has_key ? seals_file : key_file, has_key ? key_file : seals_file);
    if (catch_up(s, lines, e) || write_key(s, e)) /* a crash may have left an older secret */
        return -1;
    if (s->block == 1)
        has_line = has_block(s, e);
    return has_line < 0 || (has_line == 0 && begin_block(s, 0, e)) ? -1 : 0;
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

int audit_sealer_open(struct audit_sealer **ret, int dir_fd, unsigned block_epochs, struct err *e)
{
    struct audit_sealer *s = calloc(1, sizeof *s);
    if (!s || sodium_init() < 0) {
        free(s);
        return err_no_memory(e, "the key of the audit log");
    }
    s->dir_fd = dir_fd;
    s->block_epochs = block_epochs;
    s->block_at = UINT64_MAX;
    s->drop_above = -1;
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
    uint8_t bytes[AUDIT_SIGNED_BYTES];
    char line[AUDIT_SEAL_LINE];
    if (!s->is_on_disk && write_key(s, e))
        return -1;
    if (s->epoch % s->block_epochs == 0 && s->block_at != s->epoch && begin_block(s, s->block, e))
        return -1;
    next_seed(k, k->seed, false);
    public_of(k, k->next, seal->next);
    sign(k, k->seed, bytes, audit_seal_signed(seal, bytes), seal->signature);
    audit_seal_format(seal, line);
    if (append(s, line, e))
        return -1;
    s->last = *seal;
    forget_epoch(s);
    return write_key(s, e);
}

static int check_step(const struct audit_seal *last, int64_t seq, int64_t now_ms, struct err *e)
{
    int64_t seconds = (now_ms - last->time_ms) / 1000;
    seconds = seconds < 0 ? 0 : seconds > seconds_max ? seconds_max : seconds;
    int64_t max = last->seq ? last->seq + (1 + seconds) * RECORDS_A_SECOND : first_seq_max;
    if (seq <= last->seq)
        return err_set(e, ERR_CONFLICT, 0,
                       "the audit log ends with record %" PRId64 ", and record %" PRId64
                       " was sealed with another hash: see 'belljar audit verify'",
                       seq, last->seq);
    if (seq > max)
        return err_set(e, ERR_CONFLICT, 0,
                       "the keeper tells that the audit log ends with record %" PRId64
                       ": after record %" PRId64 " it can have reached %" PRId64
                       " by now; see 'belljar audit verify'",
                       seq, last->seq, max);
    return 0;
}

int audit_sealer_seal(struct audit_sealer *s, int64_t seq, const uint8_t head[DIGEST_BYTES],
                      int64_t now_ms, struct err *e)
{
    const struct audit_seal *last = &s->last;
    bool same = seq == last->seq && memcmp(head, last->head, DIGEST_BYTES) == 0;
    if (same || seq <= 0)
        return 0;
    if (check_step(last, seq, now_ms, e))
        return -1;
    struct audit_seal seal = { .epoch = s->epoch, .seq = seq, .time_ms = now_ms };
    memcpy(seal.head, head, DIGEST_BYTES);
    int rc = make_seal(s, &seal, e);
    sodium_stackzero(STACK_USED);
    return rc;
}
