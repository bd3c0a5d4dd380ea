#include "api/runs/expected.h"

#include "check.h"

static struct output_piece piece(const char *text)
{
    return (struct output_piece){ text, strlen(text) };
}

static bool same(enum compare_mode mode, const char *expected, const char *got)
{
    struct difference d;
    return output_same(mode, piece(expected), piece(got), &d);
}

static void check_piece(struct output_piece p, const char *text)
{
    if (!CHECK((p.bytes != NULL) == (text != NULL)) || !text)
        return;
    CHECK(p.len == strlen(text) && memcmp(p.bytes, text, p.len) == 0);
}

static void check_difference(enum compare_mode mode, const char *expected, const char *got,
                             size_t line, const char *expected_piece, const char *got_piece)
{
    struct difference d = { 0 };
    CHECK(!output_same(mode, piece(expected), piece(got), &d));
    CHECK_INT(d.line, line);
    check_piece(d.expected, expected_piece);
    check_piece(d.got, got_piece);
}

static void test_trim_passes_over_white_space_at_the_ends_of_lines(void)
{
    CHECK(same(COMPARE_TRIM, "a\nb", "a\nb\n"));
    CHECK(same(COMPARE_TRIM, "a\nb\n", "a  \r\nb\t\n\n \n"));
    CHECK(same(COMPARE_TRIM, "", "\n\n"));
    CHECK(same(COMPARE_TRIM, "", ""));
    CHECK(same(COMPARE_TRIM, "a\n\nb", "a\n \nb"));
}

static void test_trim_sees_everything_else(void)
{
    CHECK(!same(COMPARE_TRIM, "a", " a"));
    CHECK(!same(COMPARE_TRIM, "a b", "a  b"));
    CHECK(!same(COMPARE_TRIM, "a\nb", "a\n\nb"));
    CHECK(!same(COMPARE_TRIM, "\na", "a"));
    CHECK(!same(COMPARE_TRIM, "a", "A"));
}

static void test_exact_is_byte_for_byte(void)
{
    CHECK(same(COMPARE_EXACT, "a\n", "a\n"));
    CHECK(!same(COMPARE_EXACT, "a\n", "a"));
    CHECK(!same(COMPARE_EXACT, "a", "a\n\n"));
    struct difference d;
    CHECK(output_same(COMPARE_EXACT, (struct output_piece){ "a\0b", 3 },
                      (struct output_piece){ "a\0b", 3 }, &d));
    CHECK(!output_same(COMPARE_EXACT, (struct output_piece){ "a\0b", 3 },
                       (struct output_piece){ "a\0c", 3 }, &d));
}

static void test_tokens_are_words_whatever_is_between(void)
{
    CHECK(same(COMPARE_TOKENS, "1 2 3", "\n1\t2\r\n\n3\n"));
    CHECK(same(COMPARE_TOKENS, "", " \n"));
    CHECK(!same(COMPARE_TOKENS, "1 2", "12"));
    CHECK(!same(COMPARE_TOKENS, "1 2", "1"));
}

static void test_the_first_difference_is_told_by_its_line(void)
{
    check_difference(COMPARE_TRIM, "a\nb\nc\n", "a\nx \nc\n", 2, "b", "x");
    check_difference(COMPARE_TRIM, "a\nb", "a\n", 2, "b", NULL);
    check_difference(COMPARE_TRIM, "a", "a\n\nz", 2, NULL, "");
    check_difference(COMPARE_EXACT, "a\nb\n", "a\nb", 2, "b\n", "b");
    check_difference(COMPARE_TOKENS, "1 2\n3 4\n", "1 2 3 5", 2, "4", "5");
    check_difference(COMPARE_TOKENS, "1\n", "1\n\n2", 3, NULL, "2");
    check_difference(COMPARE_TRIM, "", "x", 1, NULL, "x");
}

static void test_nothing_printed_may_be_no_buffer_at_all(void)
{
    struct difference d;
    struct output_piece none = { 0 };
    for (int i = 0; i < COMPARE_COUNT_; i++) {
        CHECK(output_same((enum compare_mode)i, none, none, &d));
        CHECK(!output_same((enum compare_mode)i, piece("a"), none, &d));
    }
}

static void test_words_of_modes_are_parsed(void)
{
    CHECK_INT(compare_parse(NULL), COMPARE_TRIM);
    for (int i = 0; i < COMPARE_COUNT_; i++)
        CHECK_INT(compare_parse(compare_words[i]), i);
    CHECK(compare_words[COMPARE_COUNT_] == NULL);
}

static const struct check_test tests[] = {
    TEST(test_trim_passes_over_white_space_at_the_ends_of_lines),
    TEST(test_trim_sees_everything_else),
    TEST(test_exact_is_byte_for_byte),
    TEST(test_tokens_are_words_whatever_is_between),
    TEST(test_the_first_difference_is_told_by_its_line),
    TEST(test_nothing_printed_may_be_no_buffer_at_all),
    TEST(test_words_of_modes_are_parsed),
};
CHECK_MAIN(tests)
