#include "session/fold.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "check.h"

#define KEY_A "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define KEY_B "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"

static int memory(const void *bytes, size_t n)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    return fd >= 0 && fd_write_all(fd, bytes, n) == 0 ? fd : -1;
}

static int read_keys(const char *text, struct image_keys *ret, struct err *e)
{
    autoclose int fd = memory(text, strlen(text));
    return image_keys_read(fd, ret, e);
}

static struct image_keys keys_of(const char *text)
{
    struct image_keys keys;
    struct err e = { 0 };
    CHECK_INT(read_keys(text, &keys, &e), 0);
    return keys;
}

/* Bytes that compress a little. */
static char *example(size_t n)
{
    char *bytes = malloc(n + 1);
    unsigned v = 1;
    for (size_t i = 0; i < n; i++) {
        v = v * 1103515245U + 12345U;
        bytes[i] = (char)(i % 8 < 4 ? 'x' : v >> 16);
    }
    return bytes;
}

static struct fold_form form_of(bool compressed, const struct image_keys *keys)
{
    struct fold_form form = { .compressed = compressed };
    if (keys)
        memcpy(form.key, keys->keys[0].id, sizeof form.key);
    return form;
}

/* The folded form in memory; f is ready for unfold(). */
static struct fold folded(const char *bytes, size_t n, struct fold_form form,
                          const struct image_keys *keys)
{
    struct err e = { 0 };
    autoclose int image = memory(bytes, n);
    struct fold f = { .from_fd = image,
                      .to_fd = memfd_create("folded", MFD_CLOEXEC),
                      .bytes = n,
                      .form = form,
                      .keys = keys,
                      .id = "img_1",
                      .hash_image = true };
    CHECK_INT(fold(&f, &e), 0);
    f.from_fd = f.to_fd;
    CHECK_INT(lseek(f.from_fd, 0, SEEK_END), (off_t)f.stored);
    return f;
}

static bool comes_back(struct fold *f, const char *bytes, struct err *e)
{
    autoclose int fd = -1;
    autofree char *back = malloc(f->bytes + 1);
    if (unfold_to_memory(f, &fd, e))
        return false;
    return lseek(fd, 0, SEEK_END) == (off_t)f->bytes &&
           pread(fd, back, f->bytes, 0) == (ssize_t)f->bytes &&
           memcmp(back, bytes, f->bytes) == 0 && fcntl(fd, F_GET_SEALS) > 0;
}

static void test_every_form_comes_back(void)
{
    static const size_t sizes[] = { 1,          4096,           FOLD_PIECE - 1,
                                    FOLD_PIECE, FOLD_PIECE + 1, 3 * FOLD_PIECE + 5 };
    struct image_keys keys = keys_of(KEY_A "\n");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        autofree char *bytes = example(sizes[i]);
        struct fold plain = folded(bytes, sizes[i], form_of(false, NULL), NULL);
        (void)close(plain.from_fd);
        for (int form = 0; form < 4; form++) {
            struct err e = { 0 };
            struct fold f = folded(bytes, sizes[i], form_of(form & 1, form & 2 ? &keys : NULL),
                                   &keys);
            uint8_t digest[DIGEST_BYTES];
            memcpy(digest, f.digest, sizeof digest);
            CHECK(comes_back(&f, bytes, &e));
            CHECK(memcmp(digest, f.digest, sizeof digest) == 0);
            CHECK(memcmp(plain.digest, f.image_digest, sizeof digest) == 0);
            CHECK(form != 1 || sizes[i] < 4096 || f.stored < sizes[i]);
            (void)close(f.from_fd);
        }
    }
}

static void test_an_altered_byte_of_an_encrypted_image_is_refused(void)
{
    struct image_keys keys = keys_of(KEY_A);
    autofree char *bytes = example(600);
    for (int compressed = 0; compressed < 2; compressed++) {
        struct fold f = folded(bytes, 600, form_of(compressed, &keys), &keys);
        for (uint64_t i = 0; i < f.stored; i++) {
            struct err e = { 0 };
            char byte;
            CHECK(pread(f.from_fd, &byte, 1, (off_t)i) == 1);
            byte ^= 1;
            CHECK(pwrite(f.from_fd, &byte, 1, (off_t)i) == 1);
            CHECK(!comes_back(&f, bytes, &e) && e.code == ERR_CONFLICT);
            byte ^= 1;
            CHECK(pwrite(f.from_fd, &byte, 1, (off_t)i) == 1);
        }
        struct err e = { 0 };
        CHECK(comes_back(&f, bytes, &e));
        (void)close(f.from_fd);
    }
}

/* The end of a piece is the most natural place to cut at. */
static void test_a_cut_or_longer_file_is_refused(void)
{
    static const uint64_t cuts[] = { 0, 1, 17, 24, FOLD_PIECE + 17 + 24 };
    struct image_keys keys = keys_of(KEY_A);
    autofree char *bytes = example((size_t)2 * FOLD_PIECE);
    struct fold f = folded(bytes, (size_t)2 * FOLD_PIECE, form_of(false, &keys), &keys);
    struct fold other = f;
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
        struct err e = { 0 };
        other.stored = cuts[i];
        CHECK(!comes_back(&other, bytes, &e) && e.code == ERR_CONFLICT);
    }
    struct err e = { 0 };
    CHECK(pwrite(f.from_fd, "x", 1, (off_t)f.stored) == 1);
    other.stored = f.stored + 1;
    CHECK(!comes_back(&other, bytes, &e) && e.code == ERR_CONFLICT);
    (void)close(f.from_fd);
}

/* All bytes of the image are there, and only the mark of the end is missing. */
static void test_a_file_without_its_end_is_refused(void)
{
    struct image_keys keys = keys_of(KEY_A);
    autofree char *bytes = example(FOLD_PIECE);
    struct fold f = folded(bytes, FOLD_PIECE, form_of(false, &keys), &keys);
    struct err e = { 0 };
    f.stored -= 17;
    CHECK(!comes_back(&f, bytes, &e) && e.code == ERR_CONFLICT);
    (void)close(f.from_fd);
}

static void test_an_encrypted_file_takes_the_place_of_no_other(void)
{
    struct image_keys keys = keys_of(KEY_A);
    autofree char *bytes = example(5000);
    struct fold f = folded(bytes, 5000, form_of(false, &keys), &keys);
    struct err e = { 0 };
    f.id = "img_2";
    CHECK(!comes_back(&f, bytes, &e) && e.code == ERR_CONFLICT);
    f.id = "img_1";
    f.bytes = 4999;
    CHECK(!comes_back(&f, bytes, &e) && e.code == ERR_CONFLICT);
    (void)close(f.from_fd);
}

static void test_keys_rotate(void)
{
    struct image_keys old = keys_of(KEY_A), both = keys_of(KEY_B "\n\n# the old one\n" KEY_A "\n"),
                      other = keys_of(KEY_B), none = { 0 };
    autofree char *bytes = example(5000);
    struct fold f = folded(bytes, 5000, form_of(false, &old), &old);
    struct err e = { 0 };
    CHECK_INT(both.n, 2);
    CHECK_STR(both.keys[1].id, old.keys[0].id);
    f.keys = &both;
    CHECK(comes_back(&f, bytes, &e));
    f.keys = &other;
    CHECK(!comes_back(&f, bytes, &e) && e.code == ERR_UNAVAILABLE);
    CHECK(strstr(e.text, old.keys[0].id) && strstr(e.text, "images.key_file"));
    f.keys = &none;
    CHECK(!comes_back(&f, bytes, &e) && e.code == ERR_UNAVAILABLE);
    (void)close(f.from_fd);
}

/* A key that is not the one of the id: nobody but the owner of the file could make it so. */
static void test_a_key_with_a_false_id_opens_nothing(void)
{
    struct image_keys keys = keys_of(KEY_A), other = keys_of(KEY_B);
    autofree char *bytes = example(5000);
    struct fold f = folded(bytes, 5000, form_of(false, &keys), &keys);
    struct err e = { 0 };
    memcpy(other.keys[0].id, keys.keys[0].id, sizeof keys.keys[0].id);
    f.keys = &other;
    CHECK(!comes_back(&f, bytes, &e) && e.code == ERR_CONFLICT);
    (void)close(f.from_fd);
}

static void test_a_bomb_is_bounded(void)
{
    enum { LARGE = 32 << 20, ANNOUNCED = 1 << 20 };
    autofree char *zeros = calloc(1, LARGE);
    struct fold f = folded(zeros, LARGE, form_of(true, NULL), NULL);
    struct err e = { 0 };
    autoclose int to = memfd_create("to", MFD_CLOEXEC);
    CHECK(f.stored < 64 << 10);
    f.bytes = ANNOUNCED;
    f.to_fd = to;
    CHECK(unfold(&f, &e) == -1 && e.code == ERR_CONFLICT);
    CHECK(lseek(to, 0, SEEK_END) <= ANNOUNCED);
    f.bytes = (uint64_t)LARGE + 1; /* too short is refused, too */
    CHECK(!comes_back(&f, zeros, &e) && e.code == ERR_CONFLICT);
    f.bytes = LARGE;
    CHECK(comes_back(&f, zeros, &e));
    (void)close(f.from_fd);
}

/* A frame whose window is 128 MiB: its head alone asks for that memory. */
static void test_a_large_window_is_refused(void)
{
    static const unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x01, 0x00, 0x00 };
    autoclose int fd = memory(frame, sizeof frame), to = memfd_create("to", MFD_CLOEXEC);
    struct err e = { 0 };
    struct fold f = {
        .from_fd = fd, .to_fd = to, .stored = sizeof frame, .bytes = 1, .form.compressed = true
    };
    CHECK(unfold(&f, &e) == -1 && e.code == ERR_CONFLICT);
    CHECK(strstr(e.text, "memory") != NULL);
}

static void test_damage_of_a_compressed_image_is_refused_or_told_by_its_digest(void)
{
    autofree char *bytes = example(3000);
    struct fold f = folded(bytes, 3000, form_of(true, NULL), NULL);
    uint8_t digest[DIGEST_BYTES];
    memcpy(digest, f.digest, sizeof digest);
    for (uint64_t i = 0; i < f.stored; i++) {
        struct err e = { 0 };
        autoclose int to = memfd_create("to", MFD_CLOEXEC);
        char byte;
        f.to_fd = to;
        CHECK(pread(f.from_fd, &byte, 1, (off_t)i) == 1);
        byte ^= 4;
        CHECK(pwrite(f.from_fd, &byte, 1, (off_t)i) == 1);
        CHECK(unfold(&f, &e) == -1 || memcmp(digest, f.digest, sizeof digest) != 0);
        byte ^= 4;
        CHECK(pwrite(f.from_fd, &byte, 1, (off_t)i) == 1);
    }
    struct err e = { 0 };
    CHECK(pwrite(f.from_fd, "x", 1, (off_t)f.stored) == 1);
    f.stored++;
    CHECK(!comes_back(&f, bytes, &e) && e.code == ERR_CONFLICT);
    (void)close(f.from_fd);
}

static void test_files_of_keys_are_read_strictly(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "has no key" },
        { "# only a comment\n", "has no key" },
        { "abcd\n", "line 1" },
        { KEY_A "\n" KEY_A "0\n", "line 2" },
        { KEY_A "\n\ng" KEY_B, "line 3" },
        { KEY_A "\n" KEY_A "\n", "second time" },
    };
    struct image_keys keys;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = { 0 };
        CHECK(read_keys(cases[i].text, &keys, &e) == -1 && e.code == ERR_BAD_REQUEST);
        CHECK(strstr(e.text, cases[i].says) != NULL);
        CHECK(!strstr(e.text, "0011") && !strstr(e.text, "ffee") && keys.n == 0);
    }
    autofree char *large = calloc(1, IMAGE_KEY_FILE_MAX + 2);
    memset(large, '#', IMAGE_KEY_FILE_MAX + 1);
    struct err e = { 0 };
    CHECK(read_keys(large, &keys, &e) == -1 && strstr(e.text, "bytes"));
    keys = keys_of(KEY_A "\r\n");
    CHECK_INT(keys.n, 1);
    image_keys_done(&keys);
    CHECK(keys.n == 0 && keys.keys[0].bytes[1] == 0);
}

static void test_forms_are_words(void)
{
    static const char *const words[] = { "zstd", "sealed:0123456789abcdef",
                                         "zstd,sealed:0123456789abcdef" };
    static const char *const wrong[] = { "gzip",  "sealed:", "sealed:0123",
                                         "zstd,", "zstdx",   "sealed:0123456789abcdef0" };
    struct fold_form form;
    struct err e;
    char text[FOLD_FORM_SIZE];
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (CHECK_INT(fold_form_parse(words[i], &form, &e), 0))
            CHECK_STR(fold_form_text(&form, text), words[i]);
    CHECK(fold_form_parse(NULL, &form, &e) == 0 && fold_is_plain(&form) &&
          !fold_form_text(&form, text));
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        CHECK(fold_form_parse(wrong[i], &form, &e) == -1 && e.code == ERR_CONFLICT);
}

static const struct check_test tests[] = {
    TEST(test_every_form_comes_back),
    TEST(test_an_altered_byte_of_an_encrypted_image_is_refused),
    TEST(test_a_cut_or_longer_file_is_refused),
    TEST(test_a_file_without_its_end_is_refused),
    TEST(test_an_encrypted_file_takes_the_place_of_no_other),
    TEST(test_keys_rotate),
    TEST(test_a_key_with_a_false_id_opens_nothing),
    TEST(test_a_bomb_is_bounded),
    TEST(test_a_large_window_is_refused),
    TEST(test_damage_of_a_compressed_image_is_refused_or_told_by_its_digest),
    TEST(test_files_of_keys_are_read_strictly),
    TEST(test_forms_are_words),
};
CHECK_MAIN(tests)
