#include "base/pack.h"

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "edge.h"

/* Readers find nothing behind the message. */
struct message {
    const char *bytes;
    size_t len;
};

static struct message exact(const char *bytes, size_t n)
{
    return (struct message){ .bytes = edge_copy(bytes, n), .len = n };
}

static struct unpacker reader(const struct message *m)
{
    return (struct unpacker){ .at = m->bytes, .left = m->len };
}

static size_t pack_all(char *out, size_t size)
{
    static char *words[] = { (char *)"one", (char *)"", (char *)"three", NULL };
    struct packer p = { .at = out, .left = size };
    pack_u32(&p, 0xDEADBEEF);
    pack_u64(&p, UINT64_MAX - 1);
    pack_str(&p, "text");
    pack_str(&p, "");
    pack_strv(&p, words);
    pack_strv(&p, NULL);
    return p.failed ? 0 : (size_t)(p.at - out);
}

/* 0 when the message held exactly the bytes that pack_all() writes. */
static int unpack_all(const struct message *m, struct err *e)
{
    struct unpacker u = reader(m);
    uint32_t a = unpack_u32(&u);
    uint64_t b = unpack_u64(&u);
    const char *s = unpack_str(&u), *t = unpack_str(&u);
    autofree char **words = unpack_strv(&u, 10);
    autofree char **none = unpack_strv(&u, 10);
    if (unpack_end(&u, "test", e))
        return -1;
    CHECK(a == 0xDEADBEEF && b == UINT64_MAX - 1 && words && none);
    CHECK_STR(s, "text");
    CHECK_STR(t, "");
    CHECK_STR(words[0], "one");
    CHECK_STR(words[1], "");
    CHECK_STR(words[2], "three");
    CHECK(words[3] == NULL && none[0] == NULL);
    return 0;
}

static void test_every_kind_of_field_comes_back(void)
{
    char bytes[256];
    struct err e = { 0 };
    struct message m = exact(bytes, pack_all(bytes, sizeof bytes));
    CHECK(m.len > 0);
    CHECK_INT(unpack_all(&m, &e), 0);
}

static void test_every_cut_and_every_byte_more_is_refused(void)
{
    char bytes[256];
    size_t n = pack_all(bytes, sizeof bytes);
    for (size_t cut = 0; cut < n; cut++) {
        struct err e = { 0 };
        struct message m = exact(bytes, cut);
        if (!CHECK(unpack_all(&m, &e) == -1) || !CHECK(e.code == ERR_PROTOCOL))
            printf("    cut at %zu\n", cut);
    }
    for (int extra = 0; extra < 256; extra++) {
        struct err e = { 0 };
        bytes[n] = (char)extra;
        struct message m = exact(bytes, n + 1);
        CHECK_INT(unpack_all(&m, &e), -1);
        CHECK(strstr(e.text, "1 bytes too many") != NULL);
    }
}

static void test_what_does_not_fit_fails_whole_and_stays_failed(void)
{
    char bytes[256], *end;
    size_t n = pack_all(bytes, sizeof bytes);
    for (size_t size = 0; size < n; size++)
        CHECK_INT(pack_all(edge_room(size), size), 0);
    CHECK_INT(pack_all(bytes, n), n);
    struct packer p = { .at = bytes, .left = 4 };
    pack_u64(&p, 1);
    CHECK(p.failed && p.at == bytes);
    end = p.at;
    pack_u32(&p, 1); /* would fit */
    CHECK(p.failed && p.at == end);
}

static void test_failed_reader_yields_nothing_but_zeros(void)
{
    static const char bytes[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    struct err e = { 0 };
    struct unpacker u = { .at = bytes, .left = sizeof bytes, .failed = true };
    CHECK_INT(unpack_u32(&u), 0);
    CHECK_INT(unpack_u64(&u), 0);
    CHECK(unpack_str(&u) == NULL && unpack_strv(&u, 10) == NULL);
    CHECK_INT(u.left, sizeof bytes);
    CHECK_INT(unpack_end(&u, "test", &e), -1);
    CHECK(strstr(e.text, "test") != NULL);
}

static struct message raw_string(uint32_t len, const char *bytes, size_t n)
{
    char raw[64];
    memcpy(raw, &len, sizeof len);
    memcpy(raw + sizeof len, bytes, n);
    return exact(raw, sizeof len + n);
}

static void test_string_has_one_nul_and_at_its_end(void)
{
    static const struct {
        uint32_t len;
        const char *bytes;
        size_t n;
        bool good;
    } rows[] = {
        { 4, "abc\0", 4, true },
        { 1, "\0", 1, true },
        { 0, "", 0, false },       /* not even a NUL */
        { 3, "abc", 3, false },    /* not terminated */
        { 4, "a\0c\0", 4, false }, /* means less to C than to its sender */
        { 4, "abc\0", 3, false },  /* longer than the message */
        { 2, "\0\0", 2, false },
        { UINT32_MAX, "abc\0", 4, false },
        { 0x80000000, "abc\0", 4, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct message m = raw_string(rows[i].len, rows[i].bytes, rows[i].n);
        struct unpacker u = reader(&m);
        const char *s = unpack_str(&u);
        if (!CHECK((s != NULL) == rows[i].good) || !CHECK(u.failed != rows[i].good))
            printf("    row %zu\n", i);
    }
}

static void test_list_that_lies_about_its_length_is_refused(void)
{
    static const uint32_t lies[] = { 3, 4, 1000, 4096, 0x20000000, 0x80000000, UINT32_MAX };
    static char *words[] = { (char *)"a", (char *)"b", NULL };
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        char bytes[64];
        struct packer p = { .at = bytes, .left = sizeof bytes };
        pack_strv(&p, words);
        memcpy(bytes, &lies[i], sizeof lies[i]);
        struct message m = exact(bytes, (size_t)(p.at - bytes));
        struct unpacker u = reader(&m);
        CHECK(unpack_strv(&u, UINT32_MAX) == NULL);
        CHECK(u.failed);
    }
}

static void test_list_is_bounded_exactly(void)
{
    static char *words[] = { (char *)"a", (char *)"b", (char *)"c", NULL };
    char bytes[64];
    struct packer p = { .at = bytes, .left = sizeof bytes };
    pack_strv(&p, words);
    struct message m = exact(bytes, (size_t)(p.at - bytes));
    struct unpacker fits = reader(&m), over = reader(&m);
    autofree char **list = unpack_strv(&fits, 3);
    CHECK(list != NULL && !fits.failed);
    CHECK(unpack_strv(&over, 2) == NULL && over.failed);
}

static void test_list_with_one_bad_string_is_refused_whole(void)
{
    static char *words[] = { (char *)"aaa", (char *)"bbb", (char *)"ccc", NULL };
    char bytes[64];
    struct packer p = { .at = bytes, .left = sizeof bytes };
    pack_strv(&p, words);
    bytes[4 + 8 + 4 + 1] = '\0'; /* the middle of "bbb" */
    struct message m = exact(bytes, (size_t)(p.at - bytes));
    struct unpacker u = reader(&m);
    CHECK(unpack_strv(&u, 10) == NULL);
    CHECK(u.failed);
}

static const struct check_test tests[] = {
    TEST(test_every_kind_of_field_comes_back),
    TEST(test_every_cut_and_every_byte_more_is_refused),
    TEST(test_what_does_not_fit_fails_whole_and_stays_failed),
    TEST(test_failed_reader_yields_nothing_but_zeros),
    TEST(test_string_has_one_nul_and_at_its_end),
    TEST(test_list_that_lies_about_its_length_is_refused),
    TEST(test_list_is_bounded_exactly),
    TEST(test_list_with_one_bad_string_is_refused_whole),
};
CHECK_MAIN(tests)
