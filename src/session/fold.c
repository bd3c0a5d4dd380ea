#include "session/fold.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"

enum {
    LEVEL = 1,       /* images are large, and sessions wait for them */
    WINDOW_LOG = 23, /* 8 MiB: the most memory that a compressed form can ask for */
    TAG = crypto_secretstream_xchacha20poly1305_ABYTES,
    HEADER = crypto_secretstream_xchacha20poly1305_HEADERBYTES,
};
#define COMPRESSED "zstd"
#define ENCRYPTED  "sealed:"

/* ---- the form ---- */

bool fold_is_plain(const struct fold_form *f)
{
    return !f->compressed && !f->key[0];
}

const char *fold_form_text(const struct fold_form *f, char ret[FOLD_FORM_SIZE])
{
    if (fold_is_plain(f))
        return NULL;
    (void)snprintf(ret, FOLD_FORM_SIZE, "%s%s%s%s", f->compressed ? COMPRESSED : "",
                   f->compressed && f->key[0] ? "," : "", f->key[0] ? ENCRYPTED : "", f->key);
    return ret;
}

int fold_form_parse(const char *text, struct fold_form *ret, struct err *e)
{
    const size_t digits = sizeof ret->key - 1;
    *ret = (struct fold_form){ 0 };
    if (!text)
        return 0;
    const char *at = text;
    if (strncmp(at, COMPRESSED, strlen(COMPRESSED)) == 0) {
        ret->compressed = true;
        at += strlen(COMPRESSED);
        if (!*at)
            return 0;
        at += *at == ',';
    }
    if (strncmp(at, ENCRYPTED, strlen(ENCRYPTED)) != 0 ||
        strspn(at + strlen(ENCRYPTED), "0123456789abcdef") != digits ||
        at[strlen(ENCRYPTED) + digits])
        return err_set(e, ERR_CONFLICT, 0, "the form '%s' of an image is not known", QUOTED(text));
    memcpy(ret->key, at + strlen(ENCRYPTED), digits);
    return 0;
}

/* ---- to read an image ---- */

struct fold_reader {
    int fd;
    uint64_t from, at, bytes;
    ZSTD_CCtx *compressor; /* NULL: not compressed */
    char *piece;           /* of the image, if it is compressed */
    ZSTD_inBuffer input;
    bool over;
};

void fold_reader_free(struct fold_reader *r)
{
    if (!r)
        return;
    (void)ZSTD_freeCCtx(r->compressor);
    free(r->piece);
    free(r);
}

int fold_reader_new(struct fold_reader **ret, int fd, uint64_t from, uint64_t bytes, bool compress,
                    struct err *e)
{
    struct fold_reader *r = calloc(1, sizeof *r);
    if (!r)
        return err_no_memory(e, "an image");
    *r = (struct fold_reader){ .fd = fd,
                               .from = from,
                               .bytes = bytes,
                               .compressor = compress ? ZSTD_createCCtx() : NULL,
                               .piece = compress ? malloc(FOLD_PIECE) : NULL };
    if (compress &&
        (!r->compressor || !r->piece ||
         ZSTD_isError(ZSTD_CCtx_setParameter(r->compressor, ZSTD_c_compressionLevel, LEVEL)))) {
        fold_reader_free(r);
        return err_no_memory(e, "a compressor");
    }
    *ret = r;
    return 0;
}

/* Up to `size` bytes of the image; fewer only at its end. */
static ssize_t read_image(struct fold_reader *r, char *to, size_t size, struct err *e)
{
    size_t done = 0;
    while (done < size && r->at < r->bytes) {
        uint64_t left = r->bytes - r->at;
        size_t want = left < size - done ? (size_t)left : size - done;
        ssize_t n = pread(r->fd, to + done, want, (off_t)(r->from + r->at));
        if (n <= 0)
            return err_set(e, ERR_KERNEL, n < 0 ? errno : EIO, "read an image");
        done += (size_t)n;
        r->at += (uint64_t)n;
    }
    return (ssize_t)done;
}

ssize_t fold_reader_next(struct fold_reader *r, char *to, size_t size, struct err *e)
{
    ZSTD_outBuffer output = { to, size, 0 };
    if (!r->compressor)
        return read_image(r, to, size, e);
    while (!r->over && output.pos < size) {
        if (r->input.pos == r->input.size) {
            ssize_t n = read_image(r, r->piece, FOLD_PIECE, e);
            if (n < 0)
                return -1;
            r->input = (ZSTD_inBuffer){ r->piece, (size_t)n, 0 };
        }
        bool last = r->at == r->bytes;
        size_t left = ZSTD_compressStream2(r->compressor, &output, &r->input,
                                           last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return err_set(e, ERR_UNAVAILABLE, 0, "compress an image: %s", ZSTD_getErrorName(left));
        r->over = last && left == 0;
    }
    return (ssize_t)output.pos;
}

/* ---- encryption ---- */

struct seal {
    crypto_secretstream_xchacha20poly1305_state state;
    bool begun;
};

static void seal_done(struct seal *s)
{
    sodium_memzero(s, sizeof *s);
}

/* The first piece belongs to this image. */
static size_t bind_to(const struct fold *f, char bound[ERR_TEXT_MAX])
{
    return (size_t)snprintf(bound, ERR_TEXT_MAX, "belljar image %s %llu %d", f->id,
                            (unsigned long long)f->bytes, f->form.compressed);
}

static const struct image_key *find_key(const struct fold *f, struct err *e)
{
    const struct image_key *key = f->keys ? image_keys_find(f->keys, f->form.key) : NULL;
    if (!key)
        (void)!err_set(e, ERR_UNAVAILABLE, 0,
                       "the image is encrypted with key %s, which the file of images.key_file does "
                       "not have: add the key, and restart the service",
                       f->form.key);
    return key;
}

static int write_out(int fd, const void *bytes, size_t n, struct err *e)
{
    if (fd_write_all(fd, bytes, n) == 0)
        return 0;
    return err_set(e, errno == ENOSPC || errno == EDQUOT ? ERR_STORAGE : ERR_KERNEL, errno,
                   "write the file of an image");
}

static int begin_sealing(struct fold *f, struct seal *s, struct err *e)
{
    unsigned char header[HEADER];
    const struct image_key *key = f->form.key[0] ? find_key(f, e) : NULL;
    if (!key)
        return f->form.key[0] ? -1 : 0;
    (void)crypto_secretstream_xchacha20poly1305_init_push(&s->state, header, key->bytes);
    f->stored += HEADER;
    return write_out(f->to_fd, header, HEADER, e);
}

static int begin_opening(const struct fold *f, struct seal *s, struct err *e)
{
    unsigned char header[HEADER];
    const struct image_key *key = f->form.key[0] ? find_key(f, e) : NULL;
    if (!key)
        return f->form.key[0] ? -1 : 0;
    if (f->stored < HEADER + TAG || pread(f->from_fd, header, HEADER, (off_t)f->from) != HEADER ||
        crypto_secretstream_xchacha20poly1305_init_pull(&s->state, header, key->bytes) != 0)
        return err_set(e, ERR_CONFLICT, 0, "the file of image '%s' was altered", f->id);
    return 0;
}

static int seal_piece(struct fold *f, struct seal *s, const char *piece, size_t n, bool last,
                      char *room, struct err *e)
{
    char bound[ERR_TEXT_MAX];
    size_t bound_bytes = s->begun ? 0 : bind_to(f, bound);
    s->begun = true;
    (void)crypto_secretstream_xchacha20poly1305_push(
        &s->state, (unsigned char *)room, NULL, (const unsigned char *)piece, n,
        (const unsigned char *)bound, bound_bytes,
        last ? crypto_secretstream_xchacha20poly1305_TAG_FINAL : 0);
    f->stored += n + TAG;
    return write_out(f->to_fd, room, n + TAG, e);
}

/* `piece` has n bytes with the tag. The last one of the file, and no other, is marked as the end. */
static int open_piece(const struct fold *f, struct seal *s, const char *piece, size_t n, bool last,
                      char *room, struct err *e)
{
    char bound[ERR_TEXT_MAX];
    size_t bound_bytes = s->begun ? 0 : bind_to(f, bound);
    unsigned char tag = 0;
    s->begun = true;
    if (n < TAG ||
        crypto_secretstream_xchacha20poly1305_pull(
            &s->state, (unsigned char *)room, NULL, &tag, (const unsigned char *)piece, n,
            (const unsigned char *)bound, bound_bytes) != 0 ||
        (tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL) != last)
        return err_set(e, ERR_CONFLICT, 0, "the file of image '%s' was altered", f->id);
    return 0;
}

/* ---- from an image ---- */

static int fold_pieces(struct fold *f, struct fold_reader *r, struct err *e)
{
    autofree char *piece = malloc(FOLD_PIECE), *room = malloc(FOLD_PIECE + TAG);
    scoped(seal) seal = { 0 };
    struct digest d;
    ssize_t n = FOLD_PIECE;
    f->stored = 0;
    if (!piece || !room)
        return err_no_memory(e, "a piece of an image");
    digest_begin(&d);
    if (begin_sealing(f, &seal, e))
        return -1;
    while (n == FOLD_PIECE) {
        n = fold_reader_next(r, piece, FOLD_PIECE, e);
        if (n < 0)
            return -1;
        if (f->form.key[0]) {
            if (seal_piece(f, &seal, piece, (size_t)n, n < FOLD_PIECE, room, e))
                return -1;
            continue;
        }
        if (write_out(f->to_fd, piece, (size_t)n, e))
            return -1;
        if (n > 0)
            digest_add(&d, piece, (size_t)n);
        f->stored += (uint64_t)n;
    }
    if (!f->form.key[0])
        digest_end(&d, f->digest);
    return 0;
}

int fold(struct fold *f, struct err *e)
{
    struct fold_reader *r;
    memset(f->digest, 0, sizeof f->digest);
    if (fold_reader_new(&r, f->from_fd, f->from, f->bytes, f->form.compressed, e))
        return -1;
    int rc = fold_pieces(f, r, e);
    fold_reader_free(r);
    return rc;
}

/* ---- to an image ---- */

struct unfolding {
    struct fold *fold;
    uint64_t written;
    ZSTD_DCtx *expander; /* NULL: not compressed */
    char *room;          /* of its output */
    bool complete;       /* its frame has ended */
    struct digest digest;
    char *piece; /* that is hashed when it is full: the digest is over pieces of one size */
    size_t in_piece;
};

static void hash_image(struct unfolding *u, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t part = n < FOLD_PIECE - u->in_piece ? n : FOLD_PIECE - u->in_piece;
        memcpy(u->piece + u->in_piece, bytes, part);
        u->in_piece += part;
        bytes += part;
        n -= part;
        if (u->in_piece == FOLD_PIECE) {
            digest_add(&u->digest, u->piece, FOLD_PIECE);
            u->in_piece = 0;
        }
    }
}

static int wrong_size(const struct fold *f, struct err *e)
{
    return err_set(e, ERR_CONFLICT, 0, "the image does not have the %llu bytes that are announced",
                   (unsigned long long)f->bytes);
}

static int put(struct unfolding *u, const char *bytes, size_t n, struct err *e)
{
    if (n > u->fold->bytes - u->written)
        return wrong_size(u->fold, e);
    if (u->piece)
        hash_image(u, bytes, n);
    u->written += n;
    return write_out(u->fold->to_fd, bytes, n, e);
}

static int expand(struct unfolding *u, const char *bytes, size_t n, struct err *e)
{
    ZSTD_inBuffer input = { bytes, n, 0 };
    ZSTD_outBuffer output = { u->room, FOLD_PIECE, FOLD_PIECE };
    while (input.pos < input.size || output.pos == output.size) {
        output.pos = 0;
        if (u->complete && input.pos < input.size)
            return wrong_size(u->fold, e); /* bytes behind the frame */
        if (u->complete)
            break;
        size_t left = ZSTD_decompressStream(u->expander, &output, &input);
        if (ZSTD_isError(left))
            return err_set(e, ERR_CONFLICT, 0, "the compressed image was altered: %s",
                           ZSTD_getErrorName(left));
        u->complete = left == 0;
        if (put(u, u->room, output.pos, e))
            return -1;
    }
    return 0;
}

static int unfold_pieces(struct unfolding *u, struct err *e)
{
    struct fold *f = u->fold;
    bool sealed = f->form.key[0];
    size_t most = sealed ? FOLD_PIECE + TAG : FOLD_PIECE;
    autofree char *piece = malloc(most), *opened = malloc(FOLD_PIECE);
    scoped(seal) seal = { 0 };
    struct digest d;
    if (!piece || !opened)
        return err_no_memory(e, "a piece of an image");
    if (begin_opening(f, &seal, e))
        return -1;
    digest_begin(&d);
    for (uint64_t at = sealed ? HEADER : 0; at < f->stored;) {
        size_t n = f->stored - at < most ? (size_t)(f->stored - at) : most;
        const char *bytes = sealed ? opened : piece;
        for (size_t got = 0; got < n;) {
            ssize_t part = pread(f->from_fd, piece + got, n - got, (off_t)(f->from + at + got));
            if (part <= 0)
                return err_set(e, ERR_KERNEL, part < 0 ? errno : EIO, "read an image");
            got += (size_t)part;
        }
        at += n;
        if (sealed && open_piece(f, &seal, piece, n, at == f->stored, opened, e))
            return -1;
        if (!sealed)
            digest_add(&d, piece, n);
        n -= sealed ? TAG : 0;
        if (u->expander ? expand(u, bytes, n, e) : put(u, bytes, n, e))
            return -1;
    }
    if (!sealed)
        digest_end(&d, f->digest);
    return 0;
}

static int prepare(struct unfolding *u, struct err *e)
{
    const struct fold *f = u->fold;
    if (f->hash_image && !(u->piece = malloc(FOLD_PIECE)))
        return err_no_memory(e, "a piece of an image");
    if (!f->form.compressed)
        return 0;
    u->expander = ZSTD_createDCtx();
    u->room = malloc(FOLD_PIECE);
    return !u->expander || !u->room ||
                   ZSTD_isError(
                       ZSTD_DCtx_setParameter(u->expander, ZSTD_d_windowLogMax, WINDOW_LOG))
               ? err_no_memory(e, "a compressed image")
               : 0;
}

int unfold(struct fold *f, struct err *e)
{
    struct unfolding u = { .fold = f };
    memset(f->digest, 0, sizeof f->digest);
    digest_begin(&u.digest);
    int rc = prepare(&u, e) || unfold_pieces(&u, e) ? -1 : 0;
    if (rc == 0 && (u.written != f->bytes || (f->form.compressed && !u.complete)))
        rc = wrong_size(f, e);
    if (rc == 0 && u.in_piece > 0)
        digest_add(&u.digest, u.piece, u.in_piece);
    digest_end(&u.digest, f->image_digest);
    (void)ZSTD_freeDCtx(u.expander);
    free(u.piece);
    free(u.room);
    return rc;
}

int unfold_to_memory(struct fold *f, int *ret_fd, struct err *e)
{
    autoclose int fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    f->to_fd = fd;
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make memory for an image");
    if (unfold(f, e))
        return -1;
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return err_set(e, ERR_KERNEL, errno, "seal an image");
    *ret_fd = fd_take(&fd);
    return 0;
}
