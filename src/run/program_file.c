#include "run/program_file.h"

#include <sodium.h>
#include <string.h>

#include "base/auto.h"
#include "base/fdio.h"

enum { HASH_BYTES = 32, SAID_MAX = 64 << 10 };

/* In the machine's byte order: a cache does not leave it. The hash is over the key, and everything behind it. */
struct head {
    char magic[8];
    unsigned char hash[HASH_BYTES];
    uint64_t usage[4];
    uint64_t said[RUN_STREAMS], made; /* bytes, in this order */
    uint64_t cut[RUN_STREAMS];        /* more was said */
};
static const char magic[8] = { 'b', 'e', 'l', 'l', 'j', 'a', 'r', '1' };

void program_file_done(struct program_file *f)
{
    preparation_done(&f->how);
    buf_done(&f->made);
}

static void hash_of(unsigned char out[HASH_BYTES], const char *key, const char *bytes, size_t n)
{
    crypto_generichash_state h;
    size_t behind = offsetof(struct head, usage);
    (void)crypto_generichash_init(&h, NULL, 0, HASH_BYTES);
    (void)crypto_generichash_update(&h, (const unsigned char *)key, strlen(key));
    (void)crypto_generichash_update(&h, (const unsigned char *)bytes + behind, n - behind);
    (void)crypto_generichash_final(&h, out, HASH_BYTES);
}

/* ---- reading ---- */

static bool take_head(const struct buf *b, const char *key, struct head *ret)
{
    unsigned char hash[HASH_BYTES];
    if (b->len < sizeof *ret)
        return false;
    memcpy(ret, b->data, sizeof *ret);
    hash_of(hash, key, b->data, b->len);
    size_t left = b->len - sizeof *ret;
    return memcmp(ret->magic, magic, sizeof magic) == 0 &&
           memcmp(hash, ret->hash, sizeof hash) == 0 && ret->said[0] <= left &&
           ret->said[1] <= left - ret->said[0] && ret->made == left - ret->said[0] - ret->said[1];
}

bool program_file_whole(const struct buf *b, const char *key)
{
    struct head head;
    return take_head(b, key, &head);
}

static int take_body(const struct buf *b, const struct head *head, struct program_file *f,
                     struct err *e)
{
    const char *at = b->data + sizeof *head;
    for (int i = 0; i < RUN_STREAMS; i++) {
        if (buf_add(&f->how.said[i], at, head->said[i], e))
            return -1;
        f->how.truncated[i] = head->cut[i] != 0;
        at += head->said[i];
    }
    return buf_add(&f->made, at, head->made, e);
}

bool program_file_decode(const struct buf *b, const char *key, struct program_file *ret)
{
    struct head head;
    struct err e;
    struct program_file f = { .how = { .kind = STAGE_COMPILE, .verdict = VERDICT_OK } };
    if (!take_head(b, key, &head))
        return false;
    f.how.usage = (struct usage){ head.usage[0], head.usage[1], head.usage[2], head.usage[3] };
    if (take_body(b, &head, &f, &e)) {
        program_file_done(&f);
        return false;
    }
    *ret = f;
    return true;
}

bool program_file_read(int fd, const char *key, struct program_file *ret)
{
    scoped(buf) bytes = { 0 };
    struct err e;
    return fd_read_to_buf(fd, PROGRAM_FILE_MAX, &bytes, &e) == 0 &&
           program_file_decode(&bytes, key, ret);
}

/* ---- writing ---- */

int program_file_encode(const struct program_file *f, const char *key, struct buf *ret,
                        struct err *e)
{
    const struct usage *u = &f->how.usage;
    scoped(buf) b = { 0 };
    struct head head = { .usage = { u->wall_us, u->cpu_us, u->memory_peak_bytes, u->pids_peak },
                         .made = f->made.len };
    memcpy(head.magic, magic, sizeof magic);
    for (int i = 0; i < RUN_STREAMS; i++) {
        head.said[i] = f->how.said[i].len < SAID_MAX ? f->how.said[i].len : SAID_MAX;
        head.cut[i] = f->how.truncated[i] || f->how.said[i].len > SAID_MAX;
    }
    if (buf_reserve(&b, sizeof head + f->made.len + head.said[0] + head.said[1], e) ||
        buf_add(&b, &head, sizeof head, e))
        return -1;
    for (int i = 0; i < RUN_STREAMS; i++)
        if (buf_add(&b, f->how.said[i].data, head.said[i], e))
            return -1;
    if (buf_add(&b, f->made.data, f->made.len, e))
        return -1;
    hash_of(head.hash, key, b.data, b.len);
    memcpy(b.data, &head, sizeof head);
    *ret = b;
    b = (struct buf){ 0 };
    return 0;
}
