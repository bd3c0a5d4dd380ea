#include "base/buf.h"

#include <stdint.h>

#include "check.h"

static void test_empty_buffer_reads_as_an_empty_string(void)
{
    struct buf b = { 0 };
    CHECK_STR(buf_str(&b), "");
    CHECK_INT(b.len, 0);
    buf_done(&b);
}

static void test_buffer_is_terminated_after_every_step(void)
{
    struct buf b = { 0 };
    struct err e = { 0 };
    for (size_t i = 0; i < 100000; i++) {
        if (!CHECK(buf_add(&b, "x", 1, &e) == 0) || !CHECK(b.data[b.len] == '\0') ||
            !CHECK(b.len == i + 1) || !CHECK(b.cap > b.len))
            break;
    }
    CHECK_INT(strlen(buf_str(&b)), 100000);
    buf_done(&b);
}

static void test_adding_nothing_is_no_error_and_adds_nothing(void)
{
    struct buf b = { 0 };
    struct err e = { 0 };
    CHECK_INT(buf_add(&b, NULL, 0, &e), 0);
    CHECK_INT(b.len, 0);
    CHECK_STR(buf_str(&b), "");
    CHECK_INT(buf_add(&b, "ab", 2, &e), 0);
    CHECK_INT(buf_add(&b, NULL, 0, &e), 0);
    CHECK_STR(buf_str(&b), "ab");
    buf_done(&b);
}

static void test_bytes_are_kept_whatever_they_are(void)
{
    struct buf b = { 0 };
    struct err e = { 0 };
    CHECK_INT(buf_add(&b, "a\0b\xFF", 4, &e), 0);
    CHECK_INT(buf_add(&b, "\0\0", 2, &e), 0);
    CHECK_INT(b.len, 6);
    CHECK(memcmp(b.data, "a\0b\xFF\0\0", 7) == 0);
    buf_done(&b);
}

static void test_formatted_text_of_any_length_is_whole(void)
{
    struct buf b = { 0 };
    struct err e = { 0 };
    CHECK_INT(buf_addf(&b, &e, "%s-%d", "n", 7), 0);
    CHECK_STR(buf_str(&b), "n-7");
    /* around the first size of the buffer, where an off-by-one would be */
    for (int width = 240; width < 270; width++) {
        size_t before = b.len;
        CHECK_INT(buf_addf(&b, &e, "%*d", width, 5), 0);
        CHECK_INT(b.len - before, width);
        CHECK_INT(b.data[b.len - 1], '5');
        CHECK_INT(b.data[b.len], 0);
    }
    CHECK_INT(buf_addf(&b, &e, "%s", ""), 0);
    buf_done(&b);
}

static void test_reserved_room_is_there_and_adds_no_length(void)
{
    struct buf b = { 0 };
    struct err e = { 0 };
    CHECK_INT(buf_add(&b, "head", 4, &e), 0);
    CHECK_INT(buf_reserve(&b, 5000, &e), 0);
    CHECK_INT(b.len, 4);
    CHECK(b.cap >= b.len + 5000 + 1);
    CHECK_STR(buf_str(&b), "head");
    memset(b.data + b.len, 'z', 5001); /* a sanitizer would see if it were not ours */
    buf_done(&b);
}

static void test_absurd_size_is_an_error_and_changes_nothing(void)
{
    struct buf b = { 0 };
    struct err e = { 0 };
    CHECK_INT(buf_add(&b, "kept", 4, &e), 0);
    struct buf before = b;
    CHECK_INT(buf_reserve(&b, SIZE_MAX, &e), -1);
    CHECK_INT(e.code, ERR_NO_MEMORY);
    CHECK_INT(buf_reserve(&b, SIZE_MAX / 4, &e), -1);
    CHECK_INT(buf_reserve(&b, SIZE_MAX / 2, &e), -1);
    CHECK_INT(buf_reserve(&b, SIZE_MAX - 4, &e), -1);
    CHECK(b.data == before.data && b.len == before.len && b.cap == before.cap);
    CHECK_STR(buf_str(&b), "kept");
    buf_done(&b);
}

static void test_done_leaves_an_empty_buffer_and_may_be_repeated(void)
{
    struct buf b = { 0 };
    struct err e = { 0 };
    CHECK_INT(buf_add(&b, "x", 1, &e), 0);
    buf_done(&b);
    CHECK(b.data == NULL && b.len == 0 && b.cap == 0);
    buf_done(&b);
    CHECK_INT(buf_add(&b, "y", 1, &e), 0);
    CHECK_STR(buf_str(&b), "y");
    buf_done(&b);
}

static const struct check_test tests[] = {
    TEST(test_empty_buffer_reads_as_an_empty_string),
    TEST(test_buffer_is_terminated_after_every_step),
    TEST(test_adding_nothing_is_no_error_and_adds_nothing),
    TEST(test_bytes_are_kept_whatever_they_are),
    TEST(test_formatted_text_of_any_length_is_whole),
    TEST(test_reserved_room_is_there_and_adds_no_length),
    TEST(test_absurd_size_is_an_error_and_changes_nothing),
    TEST(test_done_leaves_an_empty_buffer_and_may_be_repeated),
};
CHECK_MAIN(tests)
