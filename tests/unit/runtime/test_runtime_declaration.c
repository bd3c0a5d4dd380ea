#include "runtime/declaration.h"

#include "base/array.h"
#include "base/auto.h"
#include "base/strv.h"
#include "check.h"
#include "place.h"
#include "runtime/dropins.h"
#include "runtime/words.h"

#define SMALL                             \
    "name = awk\n"                        \
    "extensions = .awk\n"                 \
    "main_file = main.awk\n"              \
    "command = /usr/bin/awk -f {file}\n"  \
    "version = /usr/bin/awk -W version\n" \
    "install = apt-get install mawk\n"

static void test_every_built_in_language_survives_being_printed(void)
{
    for (const struct language *const *l = languages; *l; l++) {
        scoped(buf) text = { 0 };
        scoped(buf) again = { 0 };
        struct language *read = NULL;
        struct err e = { 0 };
        if (!CHECK_INT(declaration_print(*l, &text, &e), 0) ||
            !CHECK_INT(declaration_parse((*l)->name, buf_str(&text), text.len, &read, &e), 0)) {
            printf("    %s: %s\n", (*l)->name, e.text);
            continue;
        }
        CHECK(declaration_equal(*l, read));
        CHECK_INT(declaration_print(read, &again, &e), 0);
        CHECK_STR(buf_str(&again), buf_str(&text));
        declaration_free(read);
    }
}

static void test_a_small_declaration_has_everything_that_others_walk(void)
{
    struct err e = { 0 };
    struct language *l = NULL;
    static const char text[] = "\xEF\xBB\xBF";
    CHECK_INT(declaration_parse("x", text, 3, &l, &e), -1); /* no byte order mark: not "key" */
    if (!CHECK_INT(declaration_parse("awk.lang", SMALL, strlen(SMALL), &l, &e), 0))
        return;
    CHECK_STR(l->name, "awk");
    CHECK_STR(l->extensions[0], ".awk");
    CHECK_STR(l->command[2], "{file}");
    CHECK(l->command[3] == NULL);
    CHECK(l->aliases[0] == NULL && l->env[0] == NULL && l->hints[0] == NULL);
    CHECK(l->warm == NULL && l->compile == NULL && !l->shell);
    CHECK_STR(l->install, "apt-get install mawk");
    declaration_free(l);
}

static void test_words_are_split_as_a_shell_would(void)
{
    static const struct {
        const char *line, *words[4];
    } rows[] = {
        { "", { NULL } },
        { "  a\tb  ", { "a", "b" } },
        { "'a b' \"c d\"", { "a b", "c d" } },
        { "a'b'\"c\"d", { "abcd" } },
        { "'it'\\''s'", { "it's" } },
        { "\"a\\\"b\\\\c\\d\"", { "a\"b\\c\\d" } },
        { "a\\ b", { "a b" } },
        { "''", { "" } },
        { "$HOME `x` $(y)", { "$HOME", "`x`", "$(y)" } },
        { "a#b '#c'", { "a#b", "#c" } },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char **words = NULL;
        const char *wrong;
        struct err e = { 0 };
        if (!CHECK_INT(words_split(rows[i].line, 8, &words, &wrong, &e), 0))
            continue;
        for (size_t k = 0; k < 4; k++) {
            CHECK_STR(words[k], rows[i].words[k]);
            if (!words[k])
                break;
        }
        strv_free(words);
    }
}

static void test_what_is_wrong_is_named_with_its_place(void)
{
    static const struct {
        const char *line; /* in the place of line 4, the command's */
        const char *said;
    } rows[] = {
        { "comand = /bin/x", "x.lang line 4: there is no key 'comand': did you mean 'command'?" },
        { "colour = red", "there is no key 'colour': 'belljar languages --help' lists them" },
        { "hello", "line 4: 'hello' is not 'key = value'" },
        { "name = other", "line 4: 'name' occurs a second time: remove one" },
        { "command = awk {file}",
          "line 4: command 'awk' is not accepted: expected an absolute path" },
        { "command = /usr/bin/awk {fil}", "'{fil}' is not accepted: expected {file} " },
        { "command =", "line 4: command '' is not accepted: expected one word or more" },
        { "command = '/usr/bin/awk", "expected a closing quote" },
        { "command = /usr/bin/awk #x", "expected quotes around a word that begins with #" },
        { "command = /usr/bin/awk \\", "expected a character after the backslash" },
        { "command = /bin/x\001", "line 4 contains a control character" },
        { "aliases = Awk", "aliases 'Awk' is not accepted" },
        { "aliases = ''", "aliases '' is not accepted" },
        { "aliases = abcdefghijklmnopqrstuvwxyzabcdefgh", "up to 31" },
        { "shell = true", "shell 'true' is not accepted: expected yes or no" },
        { "env = 1A=2", "env '1A=2' is not accepted: expected NAME=VALUE" },
        { "env = PATH", "env 'PATH' is not accepted: expected NAME=VALUE" },
        { "hints = '!^'", "hints '!^' is not accepted" },
        { "hints = ^^", "hints '^^' is not accepted" },
        { "grammar = ", "grammar '' is not accepted" },
        { "# nothing", "x.lang: the key 'command' is missing" },
        { "command = /bin/x\ncompile = /bin/cc {sources}", "'compile' without 'products'" },
        { "command = /bin/x\nproducts = .", "'products' without 'compile'" },
        { "command = /bin/x\ncompile = /bin/cc\nproducts = a ../b",
          "line 6: products '../b' is not accepted: expected a relative name inside /sandbox" },
        { "command = /bin/x\ncompile = /bin/cc\nproducts = /etc/passwd",
          "products '/etc/passwd' is" },
        { "command = /bin/x\ncompile_env = A=1", "'compile_env' without 'compile'" },
        { "command = /bin/x\nprompts = '> ' '+ ' '. '", "'prompts' has 3 words: pairs" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[600];
        struct language *l = NULL;
        struct err e = { 0 };
        (void)snprintf(text, sizeof text,
                       "name = awk\nextensions = .awk\nmain_file = main.awk\n%s\n"
                       "version = /usr/bin/awk -W version\ninstall = apt-get install mawk\n",
                       rows[i].line);
        CHECK_INT(declaration_parse("x.lang", text, strlen(text), &l, &e), -1);
        if (!CHECK(strstr(e.text, rows[i].said) != NULL))
            printf("    %s\n    %s\n", rows[i].line, e.text);
        CHECK(l == NULL);
    }
}

static void test_values_of_needed_keys_are_checked(void)
{
    static const struct {
        const char *key, *value;
    } values[] = {
        { "extensions", "awk" },
        { "extensions", "." },
        { "main_file", "../x" },
        { "main_file", "a/b.awk" },
        { "main_file", "" },
        { "name", "a b" },
        { "name", "../../etc" },
        { "name", "" },
        { "name", "Awk" },
        { "version", "awk -W version" },
        { "version", "{program} --version" },
        { "install", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        char text[600], said[64];
        struct language *l = NULL;
        struct err e = { 0 };
        (void)snprintf(text, sizeof text, "%s = %s\n", values[i].key, values[i].value);
        (void)snprintf(said, sizeof said, "x.lang line 1: %s '", values[i].key);
        CHECK_INT(declaration_parse("x.lang", text, strlen(text), &l, &e), -1);
        if (!CHECK(strstr(e.text, said) != NULL))
            printf("    %s\n", e.text);
    }
}

static void test_bytes_that_are_no_text_are_refused(void)
{
    struct language *l = NULL;
    struct err e = { 0 };
    CHECK_INT(declaration_parse("x", "name = a\0b\n", 11, &l, &e), -1);
    CHECK_INT(declaration_parse("x", "name = \xFF\n", 9, &l, &e), -1);
    autofree char *large = malloc(DECLARATION_MAX_BYTES + 1);
    memset(large, '#', DECLARATION_MAX_BYTES + 1);
    CHECK_INT(declaration_parse("x", large, DECLARATION_MAX_BYTES + 1, &l, &e), -1);
    CHECK(strstr(e.text, "too large") != NULL);
}

static bool problem_says(const char *what)
{
    for (const char *const *p = language_problems; *p; p++)
        if (strstr(*p, what))
            return true;
    return false;
}

static void test_a_bad_file_keeps_no_other_from_being_read(void)
{
    struct place p;
    struct err e = { 0 };
    if (!place_init(&p))
        return;
    CHECK(place_file(&p, "awk.lang", SMALL, 0644));
    CHECK(place_file(&p, "bad.lang", "nonsense\n", 0644));
    CHECK(place_file(&p, "again.lang", SMALL, 0644)); /* before awk.lang */
    CHECK(place_file(&p, "notes.txt", "no declaration\n", 0644));
    CHECK(place_file(&p, ".hidden.lang", "nonsense\n", 0644));
    CHECK(place_file(&p, "open.lang", "name = open\n", 0666));
    CHECK_INT(mkdirat(p.fd, "dir.lang", 0755), 0);
    CHECK_INT(mknodat(p.fd, "fifo.lang", S_IFIFO | 0644, 0), 0);
    CHECK_INT(symlinkat("awk.lang", p.fd, "link.lang"), 0);
    if (CHECK_INT(language_load(p.path, &e), 0)) {
        CHECK(language_find("awk") != NULL);
        CHECK_STR(language_find("awk")->main_file, "main.awk");
        CHECK(language_find("python") != NULL);
        CHECK(problem_says("awk.lang: a language 'awk' already exists"));
        CHECK(problem_says("bad.lang line 1: 'nonsense' is not 'key = value'"));
        CHECK(problem_says("open.lang can be written by others (mode 0666)"));
        CHECK(problem_says("dir.lang"));
        CHECK(problem_says("fifo.lang is not a file"));
        CHECK(problem_says("link.lang"));
        CHECK(!problem_says("notes") && !problem_says("hidden"));
    }
    CHECK_INT(language_load(NULL, &e), 0); /* and back */
    place_done(&p);
}

static void test_a_word_that_is_taken_is_refused(void)
{
    static const struct {
        const char *line, *said;
    } rows[] = {
        { "name = python\nextensions = .xyz\n", "a language 'python' already exists" },
        { "name = xyz\naliases = PY\nextensions = .xyz\n", "not accepted" },
        { "name = xyz\naliases = py\nextensions = .xyz\n",
          "the alias 'py' already belongs to python" },
        { "name = xyz\nextensions = .sh\n", "the extension '.sh' already belongs to bash" },
        { "name = js\nextensions = .xyz\n", "a language 'javascript' already exists" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct place p;
        struct err e = { 0 };
        char text[400];
        if (!place_init(&p))
            return;
        (void)snprintf(text, sizeof text,
                       "%smain_file = main.x\ncommand = /bin/x {file}\nversion = /bin/x\ninstall = "
                       "true\n",
                       rows[i].line);
        CHECK(place_file(&p, "x.lang", text, 0644));
        CHECK_INT(language_load(p.path, &e), 0);
        if (!CHECK(problem_says(rows[i].said)))
            printf("    %s\n", language_problems[0] ? language_problems[0] : "(none)");
        CHECK(language_find("xyz") == NULL);
        CHECK_INT(language_load(NULL, &e), 0);
        place_done(&p);
    }
}

static void test_a_directory_that_others_can_write_is_refused(void)
{
    struct place p;
    struct err e = { 0 };
    if (!place_init(&p))
        return;
    CHECK(place_file(&p, "awk.lang", SMALL, 0644));
    CHECK_INT(fchmod(p.fd, 0775), 0);
    CHECK_INT(language_load(p.path, &e), -1);
    CHECK(strstr(e.text, "can be written by others (mode 0775)") != NULL);
    CHECK_INT(fchmod(p.fd, 0755), 0);
    if (geteuid() == 0) {
        CHECK_INT(fchown(p.fd, 12345, 12345), 0);
        CHECK_INT(language_load(p.path, &e), -1);
        CHECK(strstr(e.text, "belongs to uid 12345") != NULL);
        CHECK_INT(fchown(p.fd, 0, 0), 0);
    }
    CHECK_INT(language_load("/nowhere/at/all", &e), -1);
    CHECK(strstr(e.text, "'/nowhere/at/all'") != NULL);
    CHECK(language_find("awk") == NULL && language_find("python") != NULL);
    place_done(&p);
}

static void test_no_more_languages_than_there_is_room_for(void)
{
    struct place p;
    struct err e = { 0 };
    size_t n = 0;
    if (!place_init(&p))
        return;
    for (int i = 0; i < LANGUAGES_MAX + 1; i++) {
        char name[32], text[300];
        (void)snprintf(name, sizeof name, "x%03d.lang", i);
        (void)snprintf(text, sizeof text,
                       "name = x%03d\nextensions = .x%03d\nmain_file = m\ncommand = /bin/x\n"
                       "version = /bin/x\ninstall = true\n",
                       i, i);
        CHECK(place_file(&p, name, text, 0600));
    }
    CHECK_INT(language_load(p.path, &e), 0);
    while (languages[n])
        n++;
    CHECK_INT(n, LANGUAGES_MAX);
    CHECK(problem_says("language 'x064' is one too many: up to 64 are accepted"));
    CHECK_INT(language_load(NULL, &e), 0);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_every_built_in_language_survives_being_printed),
    TEST(test_a_small_declaration_has_everything_that_others_walk),
    TEST(test_words_are_split_as_a_shell_would),
    TEST(test_what_is_wrong_is_named_with_its_place),
    TEST(test_values_of_needed_keys_are_checked),
    TEST(test_bytes_that_are_no_text_are_refused),
    TEST(test_a_bad_file_keeps_no_other_from_being_read),
    TEST(test_a_word_that_is_taken_is_refused),
    TEST(test_a_directory_that_others_can_write_is_refused),
    TEST(test_no_more_languages_than_there_is_room_for),
};
CHECK_MAIN(tests)
