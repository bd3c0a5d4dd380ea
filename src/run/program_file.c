#include "run/program_file.h"

#include <sodium.h>
#include <string.h>

#include "base/auto.h"
#include "base/fdio.h"

enum { HASH_BYTES = 32, OUTPUT_MAX = 64 << 10 };

/* In the byte order of the machine: a cache does not leave it. */
struct program_head {
    char magic[8];
    unsigned char hash[HASH_BYTES];
    uint64_t usage[4];
    uint64_t output[RUN_STREAMS], products; /* lengths of the parts, in this order */
    uint64_t cut[RUN_STREAMS];              /* not 0: the stream was longer */
};
static const char magic[8] = { 'b', 'e', 'l', 'l', 'j', 'a', 'r', '1' };

void program_file_done(struct program_file *f)
{
    stage_result_done(&f->result);
    buf_done(&f->products);
}

static void hash_program(unsigned char out[HASH_BYTES], const char *key, const char *bytes,
                         size_t n)
{
    crypto_generichash_state h;
    size_t behind = offsetof(struct program_head, usage);
    (void)crypto_generichash_init(&h, NULL, 0, HASH_BYTES);
    (void)crypto_generichash_update(&h, (const unsigned char *)key, strlen(key));
    (void)crypto_generichash_update(&h, (const unsigned char *)bytes + behind, n - behind);
    (void)crypto_generichash_final(&h, out, HASH_BYTES);
}

/* ---- reading ---- */

static bool read_head(const struct buf *b, const char *key, struct program_head *ret)
{
    unsigned char hash[HASH_BYTES];
    if (b->len < sizeof *ret)
        return false;
    memcpy(ret, b->data, sizeof *ret);
    hash_program(hash, key, b->data, b->len);
    size_t left = b->len - sizeof *ret;
    return memcmp(ret->magic, magic, sizeof magic) == 0 &&
           memcmp(hash, ret->hash, sizeof hash) == 0 && ret->output[0] <= left &&
           ret->output[1] <= left - ret->output[0] &&
           ret->products == left - ret->output[0] - ret->output[1];
}

bool program_file_is_complete(const struct buf *b, const char *key)
{
    struct program_head head;
    return read_head(b, key, &head);
}

static int read_body(const struct buf *b, const struct program_head *head, struct program_file *f,
                     struct err *e)
{
    const char *at = b->data + sizeof *head;
    for (int i = 0; i < RUN_STREAMS; i++) {
        if (buf_add(&f->result.output[i], at, head->output[i], e))
            return -1;
        f->result.truncated[i] = head->cut[i] != 0;
        at += head->output[i];
    }
    return buf_add(&f->products, at, head->products, e);
}

bool program_file_decode(const struct buf *b, const char *key, struct program_file *ret)
{
    struct program_head head;
    struct err e;
    struct program_file f = { .result = { .stage = STAGE_COMPILE, .verdict = VERDICT_OK } };
    if (!read_head(b, key, &head))
        return false;
    f.result.usage = (struct usage){ head.usage[0], head.usage[1], head.usage[2], head.usage[3] };
    if (read_body(b, &head, &f, &e)) {
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
    const struct usage *u = &f->result.usage;
    scoped(buf) b = { 0 };
    struct program_head head = { .usage = { u->wall_us, u->cpu_us, u->memory_peak_bytes,
                                            u->pids_peak },
                                 .products = f->products.len };
    memcpy(head.magic, magic, sizeof magic);
    for (int i = 0; i < RUN_STREAMS; i++) {
        head.output[i] = f->result.output[i].len < OUTPUT_MAX ? f->result.output[i].len
                                                              : OUTPUT_MAX;
        head.cut[i] = f->result.truncated[i] || f->result.output[i].len > OUTPUT_MAX;
    }
    if (buf_reserve(&b, sizeof head + f->products.len + head.output[0] + head.output[1], e) ||
        buf_add(&b, &head, sizeof head, e))
        return -1;
    for (int i = 0; i < RUN_STREAMS; i++)
        if (buf_add(&b, f->result.output[i].data, head.output[i], e))
            return -1;
    if (buf_add(&b, f->products.data, f->products.len, e))
        return -1;
    hash_program(head.hash, key, b.data, b.len);
    memcpy(b.data, &head, sizeof head);
    *ret = b;
    b = (struct buf){ 0 };
    return 0;
}
