#include "spec/bundle.h"

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "edge.h"

struct name {
    const char *text;
    size_t len;
};
#define NAME(s) { s, sizeof(s) - 1 }

static void test_ordinary_names_are_accepted(void)
{
    static const struct name good[] = {
        NAME("a"),     NAME("main.py"), NAME("data/in.csv"), NAME("a/b/c/d"),   NAME(".hidden"),
        NAME("..."),   NAME("..a"),     NAME("a.."),         NAME("a/.../b"),   NAME("-rf"),
        NAME("a b"),   NAME("a\nb"),    NAME("a:b"),         NAME("\xFF\xFE"),  NAME("~"),
        NAME("$HOME"), NAME("C:\\x"),   NAME("gr\xC3\xBCn"), NAME("proc/self"),
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct err e = { 0 };
        if (!CHECK(bundle_name_check(good[i].text, good[i].len, &e) == 0))
            printf("    %s\n", e.text);
    }
}

static void test_names_that_lead_elsewhere_are_refused(void)
{
    static const struct name bad[] = {
        NAME(""),     NAME("/"),    NAME("/etc/passwd"), NAME("//a"),    NAME("a/"),
        NAME("a//b"), NAME("."),    NAME(".."),          NAME("./a"),    NAME("../a"),
        NAME("a/."),  NAME("a/.."), NAME("a/./b"),       NAME("a/../b"), NAME("a/b/../../../c"),
        NAME("\0"),   NAME("a\0b"), NAME("a\0"),         NAME("a/\0/b"), NAME("..\0"),
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err e = { 0 };
        if (!CHECK(bundle_name_check(bad[i].text, bad[i].len, &e) == -1))
            printf("    row %zu\n", i);
        CHECK_INT(e.code, ERR_BAD_REQUEST);
        CHECK(strstr(e.text, "is accepted") != NULL);
    }
}

static void test_lengths_of_names_are_bounded_exactly(void)
{
    struct err e = { 0 };
    char name[BUNDLE_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    CHECK_INT(bundle_name_check(name, BUNDLE_PART_MAX, &e), 0);
    CHECK_INT(bundle_name_check(name, BUNDLE_PART_MAX + 1, &e), -1);
    CHECK(strstr(e.text, "255") != NULL);
    for (size_t i = 200; i < sizeof name; i += 200)
        name[i] = '/';
    CHECK_INT(bundle_name_check(name, BUNDLE_NAME_MAX, &e), 0);
    CHECK_INT(bundle_name_check(name, BUNDLE_NAME_MAX + 1, &e), -1);
    CHECK(strstr(e.text, "1024") != NULL);
    CHECK_INT(bundle_name_check(name, SIZE_MAX, &e), -1);
}

static void test_names_of_outputs_may_be_below_tmp(void)
{
    static const struct name good[] = { NAME("a"), NAME("tmp/a"), NAME("/tmp/a"),
                                        NAME("/tmp/a/b.txt"), NAME("/tmp/.hidden") };
    static const struct name bad[] = {
        NAME(""),          NAME("/"),          NAME("/tmp"),        NAME("/tmp/"),
        NAME("/tmp//a"),   NAME("/tmp/../a"),  NAME("/tmp/."),      NAME("/tmp/a/"),
        NAME("/tmp/a/.."), NAME("/tmp/a\0b"),  NAME("/etc/passwd"), NAME("//tmp/a"),
        NAME("/tmpx/a"),   NAME("/var/tmp/a"), NAME("/dev/shm/a"),  NAME("/sandbox/a"),
        NAME("/TMP/a"),    NAME("./tmp/a"),    NAME("../tmp/a"),    NAME("/tmp/./a"),
    };
    struct err e = { 0 };
    char name[BUNDLE_NAME_MAX + 2];
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        CHECK_INT(output_name_check(good[i].text, good[i].len, &e), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (!CHECK_INT(output_name_check(bad[i].text, bad[i].len, &e), -1))
            printf("    %s\n", bad[i].text);
        CHECK(strstr(e.text, "is accepted") != NULL);
    }
    CHECK(!output_is_in_tmp("tmp/a") && output_is_in_tmp("/tmp/a"));
    CHECK_INT(bundle_name_check("/tmp/a", 6, &e), -1); /* files that go in stay in /sandbox */
    memset(name, 'n', sizeof name);
    memcpy(name, "/tmp/", 5);
    for (size_t i = 200; i < sizeof name; i += 200)
        name[i] = '/';
    CHECK_INT(output_name_check(name, BUNDLE_NAME_MAX, &e), 0);
    CHECK_INT(output_name_check(name, BUNDLE_NAME_MAX + 1, &e), -1);
    CHECK_INT(output_name_check(edge_copy("/tmp/", 5), 5, &e), -1);
    CHECK_INT(output_name_check(edge_copy("/tm", 3), 3, &e), -1);
}

static void test_name_is_not_read_past_its_length(void)
{
    static const char *const names[] = { "a", "a/b", "a/", "/a", "..", "a/..", "abc/." };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);
        struct err e = { 0 };
        CHECK_INT(bundle_name_check(edge_copy(names[i], n), n, &e), i < 2 ? 0 : -1);
    }
}

static void fill(struct buf *b)
{
    struct err e = { 0 };
    CHECK_INT(bundle_add(b, "main.py", 0644, "print(1)\n", 9, &e), 0);
    CHECK_INT(bundle_add(b, "data/empty", 0600, NULL, 0, &e), 0);
    CHECK_INT(bundle_add(b, "data/bytes", 0755, "\0\xFF\0", 3, &e), 0);
}

static void test_what_goes_in_comes_out_in_order(void)
{
    static const struct {
        const char *name, *bytes;
        size_t size;
        uint32_t mode;
    } rows[] = {
        { "main.py", "print(1)\n", 9, 0644 },
        { "data/empty", "", 0, 0600 },
        { "data/bytes", "\0\xFF\0", 3, 0755 },
    };
    scoped(buf) b = { 0 };
    struct err e = { 0 };
    struct bundle_entry entry;
    bool more = false;
    size_t pos = 0;
    fill(&b);
    for (size_t i = 0; i < 3; i++) {
        CHECK(bundle_next(&b, &pos, &entry, &more, &e) == 0 && more);
        CHECK_INT(entry.head.name_len, strlen(rows[i].name));
        CHECK(memcmp(entry.name, rows[i].name, entry.head.name_len) == 0);
        CHECK(entry.head.mode == rows[i].mode && entry.head.status == OUTPUT_OK);
        CHECK_INT(entry.head.size, rows[i].size);
        CHECK(memcmp(entry.bytes, rows[i].bytes, rows[i].size) == 0);
    }
    CHECK(bundle_next(&b, &pos, &entry, &more, &e) == 0 && !more);
    CHECK_INT(pos, b.len);
}

static void test_empty_bundle_has_no_entry(void)
{
    struct buf b = { 0 };
    struct err e = { 0 };
    struct bundle_entry entry;
    bool more = true;
    size_t pos = 0;
    CHECK_INT(bundle_next(&b, &pos, &entry, &more, &e), 0);
    CHECK(!more);
}

/* -1 when the bundle is malformed, else how many entries it has. */
static int walk(const char *bytes, size_t n)
{
    char *exact = edge_copy(bytes, n);
    struct err e = { 0 };
    struct bundle_entry entry;
    struct buf view = { .data = exact, .len = n };
    bool more = true;
    int entries = 0;
    for (size_t pos = 0;; entries++) {
        if (bundle_next(&view, &pos, &entry, &more, &e))
            return CHECK(e.text[0] != '\0') ? -1 : -2;
        if (!more)
            return entries;
        CHECK(entry.name >= exact && entry.bytes <= exact + n);
        CHECK(entry.head.size <= (size_t)(exact + n - entry.bytes));
    }
}

static void test_cut_anywhere_is_an_error_and_never_a_read_outside(void)
{
    scoped(buf) b = { 0 };
    fill(&b);
    size_t head = sizeof(struct bundle_head), first = head + 7 + 9, second = first + head + 10;
    for (size_t n = 0; n <= b.len; n++) {
        int whole = n == 0 ? 0 : n == first ? 1 : n == second ? 2 : n == b.len ? 3 : -1;
        if (!CHECK(walk(b.data, n) == whole))
            printf("    cut at %zu\n", n);
    }
}

static void test_head_that_lies_is_an_error(void)
{
    static const struct bundle_head lies[] = {
        { UINT32_MAX, 0, 0, 0 },
        { UINT32_MAX, 0, 0, UINT64_MAX },
        { 3, 0, 0, UINT64_MAX },
        { 3, 0, 0, UINT64_MAX - 2 },
        { 3, 0, 0, UINT64_MAX - 3 },
        { 3, 0, 0, (uint64_t)1 << 63 },
        { 3, 0, 0, 6 },
        { 4, 0, 0, 5 },
        { 9, 0, 0, 0 },
        { 0, 0, 0, 8 },
        { UINT32_MAX - 15, 0, 0, 0 },
        { 0x80000000, 0, 0, 0x80000000 },
        { 8, 0, 0, 0 }, /* the name takes in a NUL of the bytes */
    };
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        char bytes[sizeof lies[0] + 8] = { 0 };
        memcpy(bytes, &lies[i], sizeof lies[i]);
        memset(bytes + sizeof lies[i], 'a', 3); /* and five zeros */
        if (!CHECK_INT(walk(bytes, sizeof bytes), -1))
            printf("    row %zu\n", i);
    }
}

static void test_every_changed_byte_of_a_head_stays_inside(void)
{
    scoped(buf) b = { 0 };
    fill(&b);
    for (size_t at = 0; at < b.len; at++) {
        char kept = b.data[at];
        for (int change = 1; change < 256; change++) {
            b.data[at] = (char)(kept ^ change);
            (void)walk(b.data, b.len); /* the edge and the CHECKs in it watch */
        }
        b.data[at] = kept;
    }
}

static void test_names_inside_a_bundle_are_checked_again(void)
{
    static const char *const bad[] = { "../x", "/x", "a//b", ".", "a/..", "" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        scoped(buf) b = { 0 };
        struct err e = { 0 };
        CHECK_INT(bundle_add(&b, bad[i], 0644, "x", 1, &e), 0);
        CHECK_INT(walk(b.data, b.len), -1);
    }
}

static void test_every_status_of_an_output_has_its_words(void)
{
    static const char *const words[] = { "ok", "missing", "not_a_file", "too_large", "refused" };
    CHECK_INT(ARRAY_LEN(words), OUTPUT_STATUS_COUNT_);
    for (int i = 0; i < OUTPUT_STATUS_COUNT_; i++) {
        CHECK_STR(output_status_word((enum output_status)i), words[i]);
        CHECK(output_status_why((enum output_status)i)[0] != '\0');
    }
    CHECK_STR(output_status_word((enum output_status)99), "refused");
    CHECK_STR(output_status_why((enum output_status)(-1)), output_status_why(OUTPUT_REFUSED));
}

static const struct check_test tests[] = {
    TEST(test_ordinary_names_are_accepted),
    TEST(test_names_that_lead_elsewhere_are_refused),
    TEST(test_lengths_of_names_are_bounded_exactly),
    TEST(test_names_of_outputs_may_be_below_tmp),
    TEST(test_name_is_not_read_past_its_length),
    TEST(test_what_goes_in_comes_out_in_order),
    TEST(test_empty_bundle_has_no_entry),
    TEST(test_cut_anywhere_is_an_error_and_never_a_read_outside),
    TEST(test_head_that_lies_is_an_error),
    TEST(test_every_changed_byte_of_a_head_stays_inside),
    TEST(test_names_inside_a_bundle_are_checked_again),
    TEST(test_every_status_of_an_output_has_its_words),
};
CHECK_MAIN(tests)
