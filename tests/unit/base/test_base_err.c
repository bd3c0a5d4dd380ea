#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "check.h"

static void test_err_set_is_never_success(void)
{
    struct err e = { 0 };
    CHECK_INT(err_set(&e, ERR_NONE, 0, "nothing"), -1);
    CHECK_INT(err_set(&e, ERR_KERNEL, EPERM, "mount %s", "/usr"), -1);
    CHECK_INT(e.code, ERR_KERNEL);
    CHECK_INT(e.sys, EPERM);
}

static void test_err_text_ends_with_the_systems_words(void)
{
    struct err e = { 0 };
    (void)!err_set(&e, ERR_KERNEL, EACCES, "mount %s", "/usr");
    CHECK_STR(e.text, "mount /usr: Permission denied");
    (void)!err_set(&e, ERR_USAGE, 0, "unknown option");
    CHECK_STR(e.text, "unknown option");
}

static void test_err_wrap_puts_context_first_and_keeps_the_code(void)
{
    struct err e = { 0 };
    (void)!err_set(&e, ERR_NOT_FOUND, ENOENT, "open main.py");
    CHECK_INT(err_wrap(&e, "start jar %d", 7), -1);
    CHECK_STR(e.text, "start jar 7: open main.py: No such file or directory");
    CHECK_INT(e.code, ERR_NOT_FOUND);
    CHECK_INT(e.sys, ENOENT);
}

static void test_err_text_too_long_is_cut_not_overrun(void)
{
    struct err e = { 0 };
    char word[2 * sizeof e.text];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    (void)!err_set(&e, ERR_KERNEL, EIO, "%s", word);
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
    (void)!err_wrap(&e, "%s", "outer");
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
    CHECK(strncmp(e.text, "outer: aaa", 10) == 0);
    (void)!err_wrap(&e, "%s", word);
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
}

/* Written out again: a row that changes breaks clients and scripts, so it must be changed twice. */
static void test_err_table_rows_are_what_clients_rely_on(void)
{
    static const struct {
        enum err_code code;
        const char *name;
        int http, exit_status;
        enum err_blame blame;
    } rows[] = {
        { ERR_NONE, "none", 200, 0, BLAME_NOBODY },
        { ERR_USAGE, "usage", 400, 64, BLAME_CALLER },
        { ERR_BAD_REQUEST, "bad_request", 400, 125, BLAME_CALLER },
        { ERR_NOT_FOUND, "not_found", 404, 125, BLAME_CALLER },
        { ERR_GONE, "gone", 410, 125, BLAME_CALLER },
        { ERR_TOO_LARGE, "too_large", 413, 125, BLAME_CALLER },
        { ERR_CONFLICT, "conflict", 409, 125, BLAME_CALLER },
        { ERR_DENIED, "denied", 403, 125, BLAME_CALLER },
        { ERR_NO_KEY, "unauthorized", 401, 125, BLAME_CALLER },
        { ERR_METHOD, "method_not_allowed", 405, 125, BLAME_CALLER },
        { ERR_MEDIA_TYPE, "unsupported_media_type", 415, 125, BLAME_CALLER },
        { ERR_QUOTA, "quota", 507, 125, BLAME_CALLER },
        { ERR_STORAGE, "storage_full", 507, 125, BLAME_HOST },
        { ERR_BUSY, "busy", 503, 125, BLAME_HOST },
        { ERR_UNAVAILABLE, "unavailable", 503, 125, BLAME_HOST },
        { ERR_KERNEL, "kernel", 500, 125, BLAME_HOST },
        { ERR_PROTOCOL, "protocol", 500, 125, BLAME_HOST },
        { ERR_NO_MEMORY, "no_memory", 500, 125, BLAME_HOST },
    };
    CHECK_INT(ARRAY_LEN(rows), ERR_COUNT_);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK_STR(err_name(rows[i].code), rows[i].name);
        CHECK_INT(err_http_status(rows[i].code), rows[i].http);
        CHECK_INT(err_exit_status(rows[i].code), rows[i].exit_status);
        CHECK_INT(err_blame(rows[i].code), rows[i].blame);
    }
}

static void test_err_code_from_a_liar_reads_as_protocol(void)
{
    CHECK_STR(err_name((enum err_code)ERR_COUNT_), "protocol");
    CHECK_STR(err_name((enum err_code)(-1)), "protocol");
    CHECK_INT(err_exit_status((enum err_code)1000000), 125);
}

static void test_failures_of_the_host_are_shown_without_paths(void)
{
    for (int i = 0; i < ERR_COUNT_; i++) {
        struct err e = { .code = (enum err_code)i, .text = "open /srv/state: no" };
        bool kept = strcmp(ERR_SHOWN(&e), e.text) == 0;
        if (!CHECK(kept == (err_blame(e.code) == BLAME_CALLER)))
            printf("    %s\n", err_name(e.code));
    }
}

static const struct check_test tests[] = {
    TEST(test_failures_of_the_host_are_shown_without_paths),
    TEST(test_err_set_is_never_success),
    TEST(test_err_text_ends_with_the_systems_words),
    TEST(test_err_wrap_puts_context_first_and_keeps_the_code),
    TEST(test_err_text_too_long_is_cut_not_overrun),
    TEST(test_err_table_rows_are_what_clients_rely_on),
    TEST(test_err_code_from_a_liar_reads_as_protocol),
};
CHECK_MAIN(tests)
