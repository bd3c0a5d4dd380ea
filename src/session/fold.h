/* session/fold.h — images as they lie on the disk or travel: as they are, compressed, encrypted, or
 * both. Runs in: keeper, on worker threads; its state is on the stack of the caller.
 *
 * Compression is one frame of zstd. Encryption is libsodium's secretstream: its header, then pieces
 * of FOLD_PIECE bytes with their tags, the last one marked as the end. The first piece is bound to the
 * id and the size of the image, so no file can take the place of another one.
 *
 * Invariants
 * FOLD-1 Unfolding writes no byte beyond the size that was announced, and refuses any other size.
 * FOLD-2 Any altered, missing or additional byte of an encrypted file is refused.
 * FOLD-3 The bytes of an image are never interpreted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "session/image_keys.h"
#include "store/digest.h"

enum { FOLD_PIECE = 1 << 20, FOLD_FORM_SIZE = 40 };

/* How the bytes of an image are stored. All zero: as they are. */
struct fold_form {
    bool compressed;
    char key[IMAGE_KEY_ID_SIZE]; /* "": not encrypted */
};
bool fold_is_plain(const struct fold_form *f);
/* As a word of a row, and back. NULL is the word of a plain form. */
const char *fold_form_text(const struct fold_form *f, char ret[FOLD_FORM_SIZE]);
[[nodiscard]] int fold_form_parse(const char *text, struct fold_form *ret, struct err *e);

/* The bytes of an image, compressed if asked, piece by piece. */
struct fold_reader;
[[nodiscard]] int fold_reader_new(struct fold_reader **ret, int fd, uint64_t from, uint64_t bytes,
                                  bool compress, struct err *e);
void fold_reader_free(struct fold_reader *r);
/* Fewer than `size` bytes only at the end. -1: see e. */
[[nodiscard]] ssize_t fold_reader_next(struct fold_reader *r, char *to, size_t size, struct err *e);

struct fold {
    int from_fd, to_fd;
    uint64_t from;   /* where the input begins */
    uint64_t stored; /* bytes of the folded form: of the input of unfold(), result of fold() */
    uint64_t bytes;  /* of the image */
    struct fold_form form;
    const struct image_keys *keys;
    const char *id; /* of the image, if it is encrypted */
    bool hash_image;
    /* Results. Of the folded bytes, but all zero if they are encrypted: that proves more. */
    uint8_t digest[DIGEST_BYTES];
    uint8_t image_digest[DIGEST_BYTES]; /* of unfold(), if hash_image is true */
};
/* From an image to its folded form. */
[[nodiscard]] int fold(struct fold *f, struct err *e);
/* And back. ERR_CONFLICT if the folded form was altered; ERR_UNAVAILABLE if its key is not
 * there. */
[[nodiscard]] int unfold(struct fold *f, struct err *e);
/* The same into sealed memory, which a program can map. */
[[nodiscard]] int unfold_to_memory(struct fold *f, int *ret_fd, struct err *e);
