#include "injector/values.h"

#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "check.h"

static int file_with(const char *text)
{
    struct buf b = { .data = (char *)text, .len = strlen(text) };
    struct err e;
    int fd = -1;
    CHECK_INT(fd_sealed_memory("values", &b, &fd, &e), 0);
    return fd;
}

static void test_lines_become_values_and_the_first_one_stays(void)
{
    struct values v;
    struct err e;
    autoclose int one = file_with("# text\n\nA=1=2\r\nB_2= x \nA=3"),
                  two = file_with("B_2=other\nC=c\n");
    CHECK_INT(values_init(&v, &e), 0);
    CHECK_INT(values_read(&v, one, &e), 0);
    CHECK_INT(values_read(&v, two, &e), 0);
    CHECK_STR(values_find(&v, "A"), "1=2");
    CHECK_STR(values_find(&v, "B_2"), " x ");
    CHECK_STR(values_find(&v, "C"), "c");
    CHECK(values_find(&v, "D") == NULL);
    values_done(&v);
}

static void test_error_has_the_number_of_the_line_and_no_word_of_it(void)
{
    static const char *const texts[] = {
        "A=1\nsecretvalue\n", "A=1\n1B=secretvalue\n", "A=1\nB=secretvalue\x01\n",
        "A=1\nB=\n",          "A=1\n=secretvalue",     "A=1\nB=secretvalue\xc3\xa4\n"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct values v;
        struct err e = { 0 };
        autoclose int fd = file_with(texts[i]);
        CHECK_INT(values_init(&v, &e), 0);
        CHECK(values_read(&v, fd, &e) == -1);
        CHECK(strstr(e.text, "line 2 ") != NULL);
        CHECK(strstr(e.text, "secretvalue") == NULL);
        values_done(&v);
    }
}

static const struct check_test tests[] = {
    TEST(test_lines_become_values_and_the_first_one_stays),
    TEST(test_error_has_the_number_of_the_line_and_no_word_of_it),
};
CHECK_MAIN(tests)
