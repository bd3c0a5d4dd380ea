#include "run/command_line.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"

static const struct language plain = {
    .name = "plain",
    .command = (const char *const[]){ "/bin/plain", "-x", FILE_ARGUMENT, NULL },
    .env = (const char *const[]){ NULL },
};
static const struct language talkative = {
    .name = "talkative",
    .command = (const char *const[]){ "/bin/talk", FILE_ARGUMENT, "--", NULL },
    .env = (const char *const[]){ "TALK=1", "LANG=talk", NULL },
};

static struct jar_request request_of(const struct language *l)
{
    return (struct jar_request){ .language = l, .main_name = "main.x", .limits = limits_default() };
}

static size_t count(char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    return n;
}

/* How often the entry occurs: once, if all is well. */
static int occurs(char *const *list, const char *entry)
{
    int n = 0;
    for (; *list; list++)
        n += strcmp(*list, entry) == 0;
    return n;
}

/* How many entries set this variable. */
static int sets(char *const *list, const char *name)
{
    int n = 0;
    for (; *list; list++)
        n += strncmp(*list, name, strlen(name)) == 0 && (*list)[strlen(name)] == '=';
    return n;
}

static void test_environment_is_built_from_nothing(void)
{
    static const char *const expected[] = {
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "HOME=/sandbox",
        "PWD=/sandbox",
        "TMPDIR=/tmp",
        "USER=sandbox",
        "LOGNAME=sandbox",
        "LANG=C.UTF-8",
    };
    struct jar_request q = request_of(&plain);
    struct err e = { 0 };
    scoped(command_line) j = { 0 };
    CHECK_INT(setenv("UNIT_TEST_SECRET", "hunter2", 1), 0);
    CHECK_INT(setenv("LD_PRELOAD_NOT", "x", 1), 0);
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    CHECK_INT(count(j.envp), ARRAY_LEN(expected));
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        CHECK_INT(occurs(j.envp, expected[i]), 1);
}

static void test_without_a_root_of_its_own_no_path_in_it_is_promised(void)
{
    struct jar_request q = request_of(&plain);
    struct err e = { 0 };
    scoped(command_line) j = { 0 };
    CHECK_INT(command_line_build(&j, &q, LEVEL_PROCESS, &e), 0);
    CHECK_INT(count(j.envp), 4);
    CHECK(sets(j.envp, "HOME") + sets(j.envp, "PWD") + sets(j.envp, "TMPDIR") == 0);
    CHECK(sets(j.envp, "PATH") == 1 && sets(j.envp, "LANG") == 1);
}

static void test_language_overrides_what_is_built_in_and_the_caller_overrides_both(void)
{
    char *env[] = { (char *)"A=1", (char *)"TALK=caller", (char *)"PATH=/x",
                    (char *)"A=2", (char *)"A=",          NULL };
    struct jar_request q = request_of(&talkative);
    struct err e = { 0 };
    scoped(command_line) j = { 0 };
    q.env = env;
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    CHECK(occurs(j.envp, "LANG=talk") == 1 && sets(j.envp, "LANG") == 1);
    CHECK(occurs(j.envp, "TALK=caller") == 1 && sets(j.envp, "TALK") == 1);
    CHECK(occurs(j.envp, "PATH=/x") == 1 && sets(j.envp, "PATH") == 1);
    CHECK(occurs(j.envp, "A=") == 1 && sets(j.envp, "A") == 1); /* the last word counts */
    CHECK_INT(count(j.envp), 9);
}

static void test_names_that_begin_alike_are_not_confused(void)
{
    char *env[] = { (char *)"PAT=1", (char *)"PATHS=2", (char *)"PATH_=3", NULL };
    struct jar_request q = request_of(&plain);
    struct err e = { 0 };
    scoped(command_line) j = { 0 };
    q.env = env;
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    CHECK(occurs(j.envp, "PAT=1") && occurs(j.envp, "PATHS=2") && occurs(j.envp, "PATH_=3"));
    CHECK_INT(occurs(j.envp, "PATH=/usr/local/bin:/usr/bin:/bin"), 1);
}

static void test_variables_are_names_a_shell_would_take(void)
{
    static const char *const good[] = { "A=",  "A=b",   "_=x",  "a1_B=x y",
                                        "A==", "A=b=c", "A=\n", "A=\xFF" };
    static const char *const bad[] = { "",      "A",          "=",     "=x",    "1A=x",
                                       "A B=x", "A-B=x",      "A.B=",  "A\n=x", " A=",
                                       "A =x",  "\xC3\xBC=x", "A/B=x", "$A=x" };
    struct err e = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        CHECK_INT(env_check(good[i], &e), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char *env[] = { (char *)bad[i], NULL };
        struct jar_request q = request_of(&plain);
        struct command_line j = { 0 };
        q.env = env;
        CHECK_INT(env_check(bad[i], &e), -1);
        CHECK_INT(e.code, ERR_BAD_REQUEST);
        CHECK(strchr(e.text, '\n') == NULL);
        CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), -1);
        CHECK(!j.argv && !j.envp);
    }
}

static void test_arguments_are_the_command_the_file_and_the_callers_own(void)
{
    char *args[] = { (char *)"one", (char *)"", (char *)"-three", NULL };
    struct jar_request q = request_of(&talkative);
    struct err e = { 0 };
    scoped(command_line) j = { 0 };
    q.args = args;
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    static const char *const expected[] = { "/bin/talk", "main.x", "--", "one", "", "-three" };
    if (!CHECK_INT(count(j.argv), 6))
        return;
    for (size_t i = 0; i < 6; i++)
        CHECK_STR(j.argv[i], expected[i]);
}

static void test_file_that_begins_with_a_dash_is_no_option(void)
{
    static const struct {
        const char *name, *argument;
    } rows[] = {
        { "-c", "./-c" }, { "--version", "./--version" }, { "-", "./-" }, { "a-b", "a-b" }
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct jar_request q = request_of(&plain);
        struct err e = { 0 };
        scoped(command_line) j = { 0 };
        q.main_name = rows[i].name;
        CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
        CHECK_STR(j.argv[2], rows[i].argument);
    }
}

/* Builds a job with one argument of this many bytes. */
static int build_with_argument(size_t bytes, struct err *e)
{
    autofree char *large = malloc(bytes + 1);
    if (!CHECK(large != NULL))
        return -2;
    memset(large, 'a', bytes);
    large[bytes] = '\0';
    char *args[] = { large, NULL };
    struct jar_request q = request_of(&plain);
    scoped(command_line) j = { 0 };
    q.args = args;
    return command_line_build(&j, &q, LEVEL_JAR, e);
}

static void test_arguments_and_environment_together_are_bounded(void)
{
    struct err e = { 0 };
    size_t rest = 0; /* the size of the job without the argument */
    struct jar_request q = request_of(&plain);
    scoped(command_line) j = { 0 };
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    for (char **s = j.argv; *s; s++)
        rest += strlen(*s) + 1;
    for (char **s = j.envp; *s; s++)
        rest += strlen(*s) + 1;
    CHECK_INT(build_with_argument(WIRE_MAX_TEXT - rest - 1, &e), 0);
    CHECK_INT(build_with_argument(WIRE_MAX_TEXT - rest, &e), -1);
    CHECK_INT(e.code, ERR_TOO_LARGE);
    CHECK(strstr(e.text, "65536") && strstr(e.text, "4096"));
    CHECK_INT(build_with_argument(1 << 20, &e), -1);
}

/* The old value is gone when the new one turns out to be too large: it must not be freed again. */
static void test_override_that_is_too_large_is_refused_cleanly(void)
{
    static const char *const names[] = { "PATH=", "USER=", "LANG=" }; /* first, middle and last */
    static char entry[WIRE_MAX_TEXT + 16];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *env[] = { entry, NULL };
        struct jar_request q = request_of(&plain);
        struct err e = { 0 };
        struct command_line j = { 0 };
        memset(entry, 'a', sizeof entry - 1);
        memcpy(entry, names[i], strlen(names[i]));
        q.env = env;
        CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), -1);
        CHECK_INT(e.code, ERR_TOO_LARGE);
        CHECK(!j.argv && !j.envp);
    }
}

static void test_number_of_arguments_is_bounded(void)
{
    static char *args[WIRE_MAX_STRINGS + 1];
    struct jar_request q = request_of(&plain);
    struct err e = { 0 };
    for (size_t i = 0; i < WIRE_MAX_STRINGS; i++)
        args[i] = (char *)"";
    scoped(command_line) fits = { 0 };
    q.args = args + 3; /* the command itself has three words */
    CHECK_INT(command_line_build(&fits, &q, LEVEL_JAR, &e), 0);
    CHECK_INT(count(fits.argv), WIRE_MAX_STRINGS);
    struct command_line over = { 0 };
    q.args = args + 2;
    CHECK_INT(command_line_build(&over, &q, LEVEL_JAR, &e), -1);
    CHECK_INT(e.code, ERR_TOO_LARGE);
    CHECK(!over.argv && !over.envp);
}

static void test_variable_that_is_overridden_counts_once(void)
{
    static char same[3][30000];
    for (int i = 0; i < 3; i++) {
        memset(same[i], 'x', sizeof same[i] - 1);
        memcpy(same[i], "A=", 2);
    }
    char *env[] = { same[0], same[1], same[2], NULL };
    struct jar_request q = { .language = languages[0], .main_name = "m", .env = env };
    struct err e = { 0 };
    struct command_line j = { 0 };
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    command_line_done(&j);
}

static void test_placeholders_stand_for_what_is_known_of_the_job(void)
{
    static const char *const command[] = { "/bin/x",      "{sources}",
                                           "-o{program}", "{guest}/a:{guest}/b",
                                           "--{format}",  "-Xmx{memory_mib}m",
                                           "{other}",     "{",
                                           NULL };
    char a[] = "a.c", b[] = "b.c", file[] = "{file}";
    char *sources[] = { a, b, NULL }, *args[] = { file, NULL };
    struct run_options options = { .format = TABLE_CSV };
    struct jar_request q = { .language = languages[0],
                             .main_name = "{guest}.c",
                             .command = command,
                             .sources = sources,
                             .args = args,
                             .options = &options };
    struct err e = { 0 };
    scoped(command_line) j = { 0 };
    q.limits.v[LIMIT_MEMORY] = 100 << 20;
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    static const char *const expected[] = {
        "/bin/x", "a.c",     "b.c",     "-oprogram", "/opt/belljar/a:/opt/belljar/b",
        "--csv",  "-Xmx70m", "{other}", "{",         "{file}",
        NULL
    };
    CHECK_INT(count(j.argv), 10);
    for (int i = 0; expected[i]; i++)
        CHECK_STR(j.argv[i], expected[i]);
}

static void test_name_of_a_file_is_not_searched_for_placeholders(void)
{
    static const char *const command[] = { "/bin/x", "{file}", NULL };
    struct jar_request q = { .language = languages[0],
                             .main_name = "{guest}{file}",
                             .command = command };
    struct err e = { 0 };
    scoped(command_line) j = { 0 };
    CHECK_INT(command_line_build(&j, &q, LEVEL_JAR, &e), 0);
    CHECK_STR(j.argv[1], "{guest}{file}");
}

static const struct check_test tests[] = {
    TEST(test_placeholders_stand_for_what_is_known_of_the_job),
    TEST(test_name_of_a_file_is_not_searched_for_placeholders),
    TEST(test_variable_that_is_overridden_counts_once),
    TEST(test_environment_is_built_from_nothing),
    TEST(test_without_a_root_of_its_own_no_path_in_it_is_promised),
    TEST(test_language_overrides_what_is_built_in_and_the_caller_overrides_both),
    TEST(test_names_that_begin_alike_are_not_confused),
    TEST(test_variables_are_names_a_shell_would_take),
    TEST(test_arguments_are_the_command_the_file_and_the_callers_own),
    TEST(test_file_that_begins_with_a_dash_is_no_option),
    TEST(test_arguments_and_environment_together_are_bounded),
    TEST(test_override_that_is_too_large_is_refused_cleanly),
    TEST(test_number_of_arguments_is_bounded),
};
CHECK_MAIN(tests)
