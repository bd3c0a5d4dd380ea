#include "api/runs/checker.h"

#include "base/array.h"
#include "check.h"

static void test_word_of_a_checker_is_the_first_one(void)
{
    static const struct {
        const char *text;
        enum checker_outcome outcome;
        const char *reason;
    } rows[] = {
        { "pass", CHECKER_PASS, "" },
        { "pass\n", CHECKER_PASS, "" },
        { "PASS: well done\n", CHECKER_PASS, "well done" },
        { "fail", CHECKER_FAIL, "" },
        { "fail:\n\n line 3 \n line 4\n", CHECKER_FAIL, "line 3 \n line 4" },
        { "fail pass", CHECKER_FAIL, "pass" },
        { "Fail\tx", CHECKER_FAIL, "x" },
        { "pass::", CHECKER_PASS, ":" },
        { "", CHECKER_ERROR, "" },
        { "\n", CHECKER_ERROR, "" },
        { " pass", CHECKER_ERROR, "pass" },
        { "passed", CHECKER_ERROR, "passed" },
        { "pas", CHECKER_ERROR, "pas" },
        { "failure", CHECKER_ERROR, "failure" },
        { "error", CHECKER_ERROR, "error" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *reason;
        size_t n;
        if (!CHECK_INT(checker_parse(rows[i].text, strlen(rows[i].text), &reason, &n),
                       rows[i].outcome))
            printf("    row %zu\n", i);
        CHECK(n == strlen(rows[i].reason) && memcmp(reason, rows[i].reason, n) == 0);
    }
}

static json_t *file_of(const json_t *request, const char *name)
{
    size_t i;
    json_t *file;
    json_array_foreach(json_object_get(request, "files"), i, file)
        if (strcmp(json_string_value(json_object_get(file, "name")), name) == 0)
            return file;
    return NULL;
}

static void test_request_of_a_checker_has_its_own_fields_and_the_data(void)
{
    json_auto_t *checker = json_pack("{s:s, s:s, s:{s:s}, s:s}", "language", "c", "code", "x",
                                     "files", "lib.h", "y", "artifact", "art_1");
    json_auto_t *run = json_pack("{s:s, s:s, s:{s:s}, s:s, s:s}", "code", "secret", "stdin",
                                 "AAE=", "env", "A", "b", "stdin_encoding", "base64",
                                 "permission_mode", "manual");
    json_auto_t *expected = json_string("42");
    struct buf got = { .data = (char *)"\xFF\0", .len = 2 };
    json_auto_t *request = checker_request(checker, run, expected, &got);
    CHECK_INT(json_array_size(json_object_get(request, "files")), 4);
    CHECK_STR(json_string_value(json_object_get(request, "code")), "x");
    CHECK_STR(json_string_value(json_object_get(request, "permission_mode")), "manual");
    CHECK(json_object_size(request) == 4 && !json_object_get(request, "env"));
    CHECK_STR(json_string_value(json_object_get(file_of(request, "input"), "encoding")), "base64");
    CHECK_STR(json_string_value(json_object_get(file_of(request, "expected"), "content")), "42");
    CHECK_STR(json_string_value(json_object_get(file_of(request, "got"), "content")), "/wA=");
    CHECK(json_is_true(json_object_get(file_of(request, "got"), "run_only")));
    CHECK(!json_object_get(file_of(request, "lib.h"), "run_only"));
}

static const struct check_test tests[] = {
    TEST(test_word_of_a_checker_is_the_first_one),
    TEST(test_request_of_a_checker_has_its_own_fields_and_the_data),
};
CHECK_MAIN(tests)
