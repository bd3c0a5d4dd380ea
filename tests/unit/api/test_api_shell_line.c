#include "api/approvals/shell_line.h"

#include <string.h>

#include "base/array.h"
#include "base/strv.h"
#include "check.h"

static void check_words(const char *line, const char *const *expected)
{
    char **words = NULL;
    struct err e = { 0 };
    if (!CHECK_INT(shell_line_words(line, strlen(line), &words, &e), 0)) {
        printf("    of: %s: %s\n", line, e.text);
        return;
    }
    size_t n = strv_len(words);
    for (size_t i = 0; i < n; i++)
        CHECK_STR(words[i], expected[i]);
    CHECK(expected[n] == NULL);
    strv_free(words);
}
#define EXPECT_WORDS(line, ...) check_words(line, (const char *const[]){ __VA_ARGS__, NULL })

static void test_words_are_those_of_bash(void)
{
    EXPECT_WORDS("ls", "ls");
    EXPECT_WORDS("  git \t status  \n\n", "git", "status");
    EXPECT_WORDS("echo 'a b' \"c d\" e\\ f", "echo", "a b", "c d", "e f");
    EXPECT_WORDS("a''b \"\" '' x", "ab", "", "", "x");
    EXPECT_WORDS("echo '$(id) `id` ; | & > < * ~ {a,b}'", "echo", "$(id) `id` ; | & > < * ~ {a,b}");
    EXPECT_WORDS("echo \"a\\\"b \\\\ \\x ; | \\$ \\`\"", "echo", "a\"b \\ \\x ; | $ `");
    EXPECT_WORDS("echo \\; \\$HOME \\*", "echo", ";", "$HOME", "*");
    EXPECT_WORDS("echo a#b a=b", "echo", "a#b", "a=b");
    EXPECT_WORDS("echo \xc3\xa9", "echo", "\xc3\xa9");
}

static void test_everything_else_is_refused(void)
{
    static const char *const lines[] = {
        "",          " ",          "\n",        "ls; id",    "ls && id",    "ls | sh",
        "ls &",      "ls\nid",     "ls $(id)",  "ls `id`",   "ls > f",      "ls < f",
        "ls <(id)",  "ls $HOME",   "ls *",      "ls ?",      "ls [a]",      "ls {a,b}",
        "ls ~",      "# ls",       "ls # x",    "A=1 ls",    "A=1",         "'A'=1 ls",
        "! ls",      "if true",    "time ls",   "'ls",       "\"ls",        "ls \\",
        "(ls)",      "{ ls",       "[[ a ]]",   "ls \"$A\"", "ls \"`id`\"", "ls \"$(id)\"",
        "ls \\\nid", "ls 'a\nb'",  "ls \x01",   "ls \r",     "ls \x7f",     "while x",
        "ls $'\\n'", "function f", "coproc ls", "ls !(a)",   "a+=1 ls",     "ls \"a\nb\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        char **words = NULL;
        struct err e = { 0 };
        if (!CHECK_INT(shell_line_words(lines[i], strlen(lines[i]), &words, &e), -1))
            printf("    of: %s\n", lines[i]);
        strv_free(words);
    }
    char **words = NULL;
    struct err e = { 0 };
    CHECK_INT(shell_line_words("ls\0id", 5, &words, &e), -1);
}

static const struct check_test tests[] = {
    TEST(test_words_are_those_of_bash),
    TEST(test_everything_else_is_refused),
};
CHECK_MAIN(tests)
