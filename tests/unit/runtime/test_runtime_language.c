#include "runtime/language.h"

#include "base/array.h"
#include "check.h"
#include "edge.h"

static const char *name_of(const struct language *l)
{
    return l ? l->name : "(none)";
}

static void test_languages_are_found_by_name_and_alias_in_any_case(void)
{
    static const struct {
        const char *word, *name;
    } rows[] = {
        { "python", "python" },
        { "py", "python" },
        { "python3", "python" },
        { "PYTHON", "python" },
        { "Py", "python" },
        { "javascript", "javascript" },
        { "js", "javascript" },
        { "node", "javascript" },
        { "nodejs", "javascript" },
        { "Node", "javascript" },
        { "JavaScript", "javascript" },
        { "bash", "bash" },
        { "sh", "bash" },
        { "shell", "bash" },
        { "BASH", "bash" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_STR(name_of(language_find(rows[i].word)), rows[i].name);
}

static void test_other_words_are_no_language(void)
{
    static const char *const bad[] = { "",    " ",     "pytho",   "pythonn", "python ",
                                       ".py", "cobol", "../bash", "javac",   "/bin/bash" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_STR(name_of(language_find(bad[i])), "(none)");
}

/* The code is not terminated, and nothing is behind it. */
static const char *guess(const char *file_name, const char *code)
{
    size_t n = strlen(code);
    return name_of(language_guess(file_name, edge_copy(code, n), n));
}

static void test_extension_tells_the_language(void)
{
    CHECK_STR(guess("main.py", ""), "python");
    CHECK_STR(guess("MAIN.PY", ""), "python");
    CHECK_STR(guess("a.b.js", ""), "javascript");
    CHECK_STR(guess("a.mjs", ""), "javascript");
    CHECK_STR(guess("a.cjs", ""), "javascript");
    CHECK_STR(guess("a.sh", ""), "bash");
    CHECK_STR(guess("a.bash", ""), "bash");
    CHECK_STR(guess("/some/where.py/main.js", ""), "javascript");
    CHECK_STR(guess("where.py/main", ""), "(none)");
    CHECK_STR(guess("main.pyc", ""), "(none)");
    CHECK_STR(guess("main.", ""), "(none)");
    CHECK_STR(guess("py", ""), "(none)");
    CHECK_STR(guess("", ""), "(none)");
}

static void test_first_line_is_stronger_than_the_extension(void)
{
    CHECK_STR(guess("main.py", "#!/bin/bash\n"), "bash");
    CHECK_STR(guess("main.txt", "#!/bin/bash\n"), "bash");
    CHECK_STR(guess("main.py", "#!/usr/bin/env -S uv run\n"), "python");
    if (language_find("typescript")) /* Node runs both */
        CHECK_STR(guess("main.ts", "#!/usr/bin/env node\n"), "typescript");
}

static void test_first_line_tells_the_language(void)
{
    static const struct {
        const char *code, *name;
    } rows[] = {
        { "#!/usr/bin/python3\nprint(1)\n", "python" },
        { "#!/usr/bin/python3.11\n", "python" },
        { "#!/usr/bin/python\n", "python" },
        { "#!/usr/bin/env python3\n", "python" },
        { "#!/usr/bin/env\tpython3\n", "python" },
        { "#! /usr/bin/env python3\n", "python" },
        { "#!/usr/bin/env -S python3 -u\n", "python" },
        { "#!/usr/bin/python3 -u\n", "python" },
        { "#!/usr/bin/python3\r\nprint(1)\r\n", "python" },
        { "#!/usr/bin/env python3\r\n", "python" },
        { "#!/usr/bin/python3", "python" }, /* nothing follows */
        { "#!python3\n", "python" },
        { "#!/usr/bin/env node\n", "javascript" },
        { "#!/usr/local/bin/nodejs --flag\n", "javascript" },
        { "#!/bin/sh\n", "bash" },
        { "#!/bin/bash -e\n", "bash" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_STR(guess("main", rows[i].code), rows[i].name))
            printf("    %s\n", rows[i].code);
}

static void test_first_line_that_tells_nothing_is_no_error(void)
{
    static const char *const codes[] = {
        "",
        "#",
        "#!",
        "#!\n",
        "#! \n",
        "#!/\n",
        "#!//\n",
        "#!/usr/bin/env\n",
        "#!/usr/bin/env -S\n",
        "#!/usr/bin/tclsh\n",
        "#!/bin/fish\n",
        "#!/usr/bin/3\n",
        " #!/bin/bash\n",
        "\n#!/bin/bash\n",
        "\xEF\xBB\xBF#!/bin/bash\n",
        "print(1)\n",
        "!#/bin/bash\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        CHECK_STR(guess("main", codes[i]), "(none)");
}

static void test_first_line_without_end_is_not_believed(void)
{
    static char code[5000];
    for (size_t n = 100; n < sizeof code; n += 7) {
        memset(code, 'a', n);
        memcpy(code, "#!/bin/bash ", 12);
        code[n] = '\0';
        CHECK_STR(guess("main", code), n < 128 ? "bash" : "(none)");
    }
    memset(code, '/', sizeof code - 1);
    memcpy(code, "#!", 2);
    CHECK_STR(guess("main", code), "(none)");
}

static void test_every_declaration_is_complete(void)
{
    for (const struct language *const *l = languages; *l; l++) {
        bool has_file = false;
        CHECK((*l)->name && (*l)->aliases && (*l)->extensions && (*l)->env && (*l)->install);
        CHECK(language_by_name((*l)->main_file) != NULL); /* .sql is SQLite's and PostgreSQL's */
        CHECK(strchr((*l)->main_file, '/') == NULL);
        CHECK((*l)->command[0][0] == '/' || strncmp((*l)->command[0], "{guest}/", 8) == 0 ||
              strstr((*l)->command[0], "{program}"));
        CHECK((*l)->version[0][0] == '/' || strncmp((*l)->version[0], "{guest}/", 8) == 0);
        for (const char *const *word = (*l)->compile ? (*l)->compile : (*l)->command; *word; word++)
            has_file = has_file || strcmp(*word, FILE_ARGUMENT) == 0 ||
                       strcmp(*word, "{sources}") == 0;
        CHECK(has_file);
        for (const char *const *entry = (*l)->env; *entry; entry++)
            CHECK(strchr(*entry, '=') > *entry);
        for (const char *const *extension = (*l)->extensions; *extension; extension++)
            CHECK_INT((*extension)[0], '.');
        for (const struct warm *w = (*l)->warm; w && w->zygote.name; w++)
            CHECK(w->zygote.no_sockets == (bool)((*l)->no_sockets & NO_SOCKETS_IN_PROGRAM));
    }
}

static void test_programs_and_compilers_that_need_no_sockets_have_none(void)
{
    static const char *const compilers[] = { "c", "cpp", "go", "typescript" };
    CHECK_INT(language_find("sqlite")->no_sockets, NO_SOCKETS_IN_PROGRAM);
    for (size_t i = 0; i < ARRAY_LEN(compilers); i++)
        CHECK_INT(language_find(compilers[i])->no_sockets, NO_SOCKETS_IN_COMPILER);
}

/* An alias that two languages claim would silently go to the first. */
static void test_every_word_names_one_language(void)
{
    for (const struct language *const *l = languages; *l; l++) {
        CHECK(language_find((*l)->name) == *l);
        for (const char *const *alias = (*l)->aliases; *alias; alias++)
            CHECK(language_find(*alias) == *l);
        for (const char *const *extension = (*l)->extensions; *extension; extension++)
            CHECK_STR(guess(*extension, ""), (*l)->name);
    }
}

static void test_list_names_them_all_and_stays_inside_its_buffer(void)
{
    char all[200];
    CHECK_INT(strncmp(language_list(all, sizeof all), "python, javascript, ", 20), 0);
    for (const struct language *const *l = languages; *l; l++)
        CHECK(strstr(all, (*l)->name) != NULL);
    for (size_t size = 1; size <= strlen(all); size++) {
        char *out = edge_room(size);
        CHECK(strlen(language_list(out, size)) < size);
        CHECK_INT(strncmp(out, all, strlen(out)), 0);
    }
    CHECK_STR(language_session_list(all, sizeof all),
              "python, javascript, typescript, bash, sqlite, postgres");
}

static void test_code_alone_tells_the_language_when_it_stands_out(void)
{
    static const struct {
        const char *code, *language;
    } rows[] = {
        { "import sys\nprint(1)", "python" },
        { "def f(x):\n    return x\nprint(f(1))\n", "python" },
        { "const x = 1;\nconsole.log(x);", "javascript" },
        { "import { a } from 'b';\n[1].map(x => x + a)", "javascript" },
        { "echo hello", "bash" },
        { "for f in *; do\n  cat \"$f\"\ndone", "bash" },
        { "1 + 1", NULL },
        { "", NULL },
        { "hello world", NULL },
        { "print(1)\necho 1", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct language *l = language_infer(rows[i].code, strlen(rows[i].code));
        CHECK_STR(l ? l->name : NULL, rows[i].language);
    }
}

static void test_java_is_named_after_the_public_type_in_it(void)
{
    static const struct {
        const char *language, *code, *name;
    } rows[] = {
        { "java", "class A { }\n", "Main.java" },
        { "java", "import java.util.*;\n\npublic class Zoo {\n}\n", "Zoo.java" },
        { "java", "  public final class Zoo_1{}", "Zoo_1.java" },
        { "java", "class A {\n    public class B { }\n}\n", "Main.java" },
        { "java", "    import a.b;\n    public record P(int x) { }\n", "P.java" },
        { "java", "// public class Zoo\nclass A { }", "Main.java" },
        { "java", "public class ../../x { }", "Main.java" },
        { "java", "public class ", "Main.java" },
        { "java", "public classy Zoo", "Main.java" },
        { "java", "public class /* public class A */ // B\n Zoo {}", "Zoo.java" },
        { "java", "/* public class A { } */\npackage a;\nclass B { }\n\tpublic enum Zoo { X }",
          "Zoo.java" },
        { "java", "class A { } public class Zoo { }", "Zoo.java" },
        { "java", "@SuppressWarnings(\"public class A\") public\nabstract class Zoo { }",
          "Zoo.java" },
        { "java", "@A(b = { String.class, C.class }) final public strictfp class Zoo { }",
          "Zoo.java" },
        { "java", "public sealed interface Zoo<T> permits A { }", "Zoo.java" },
        { "java", "public non-sealed class Zoo extends A { }", "Zoo.java" },
        { "java", "public @interface Zoo { }", "Zoo.java" },
        { "java", "class A {\npublic class B { }\n}\n", "Main.java" },
        { "java", "class A { String s = \"}\\\"} public class B\"; char c = '}'; }", "Main.java" },
        { "java", "class A { String s = \"\"\"\n}\"\npublic class B { }\n\"\"\"; }", "Main.java" },
        { "java", "class A { String s = \"\"; }\npublic class Zoo { }", "Zoo.java" },
        { "java", "class A { char c = '\\''; }\npublic class Zoo { }", "Zoo.java" },
        { "java", "class A { String s = \"not closed\n; }\npublic class Zoo { }", "Zoo.java" },
        { "java", "/* not closed\npublic class Zoo { }", "Main.java" },
        { "java", "class A { String s = \"\"\"\npublic class Zoo { }", "Main.java" },
        { "java", "public interface A;\nclass Zoo { }", "A.java" },
        { "java", "public ; class Zoo { }", "Main.java" },
        { "java", "}}} ) public class Zoo { }", "Zoo.java" },
        { "java", "\"\\", "Main.java" },
        { "java", "/", "Main.java" },
        { "java", "", "Main.java" },
        { "cpp", "public class Zoo { }", "main.cpp" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[MAIN_NAME_SIZE];
        CHECK_STR(language_main_name(language_find(rows[i].language), rows[i].code,
                                     strlen(rows[i].code), name),
                  rows[i].name);
    }
}

static void test_an_unknown_language_is_refused_with_what_was_meant(void)
{
    struct err e = { 0 };
    CHECK_INT(language_refuse("pyton", &e), -1);
    CHECK(strstr(e.text, "'pyton' is not supported: did you mean 'python'? Use one of python, ") !=
          NULL);
    CHECK_INT(language_refuse("cobol", &e), -1);
    CHECK(strstr(e.text, "'cobol' is not supported: use one of python, ") != NULL);
    CHECK_INT(language_refuse("", &e), -1);
    CHECK(strstr(e.text, "did you mean") == NULL);
}

static void test_options_that_exclude_each_other_are_refused(void)
{
    struct err e = { 0 };
    const char *field = NULL;
    const struct language *python = language_find("python");
    CHECK_INT(language_takes(python, &(struct run_options){ .display = true }, &field, &e), 0);
    CHECK_INT(language_takes(python, &(struct run_options){ .profile = true }, &field, &e), 0);
    CHECK_INT(language_takes(python, &(struct run_options){ .display = true, .profile = true },
                             &field, &e),
              -1);
    CHECK_STR(field, "display");
    CHECK(strstr(e.text, "display and profile cannot be combined") != NULL);
}

/* ---- kinds of zygotes ---- */

static void test_every_kind_has_a_number(void)
{
    const char *first = "unset";
    CHECK_INT(warm_left_out(&first), 0);
    CHECK(!first);
}

static void test_kinds_beyond_the_most_are_counted_and_named(void)
{
    static char names[ZYGOTE_KINDS_MAX + 3][16];
    static struct warm rows[ARRAY_LEN(names) + 1];
    static const struct language many = { .name = "many", .warm = rows };
    static const struct language *const all[] = { &many, NULL };
    const struct language *const *before = languages;
    const struct zygote_def *defs[ZYGOTE_KINDS_MAX];
    const char *first;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(names[i], sizeof names[i], "kind-%zu", i + 1);
        rows[i].zygote.name = names[i];
    }
    languages = all;
    CHECK_INT(warm_zygotes(defs), ZYGOTE_KINDS_MAX);
    CHECK_INT(warm_left_out(&first), 3);
    CHECK_STR(first, names[ZYGOTE_KINDS_MAX]);
    languages = before;
}

static const struct check_test tests[] = {
    TEST(test_languages_are_found_by_name_and_alias_in_any_case),
    TEST(test_other_words_are_no_language),
    TEST(test_extension_tells_the_language),
    TEST(test_first_line_is_stronger_than_the_extension),
    TEST(test_first_line_tells_the_language),
    TEST(test_first_line_that_tells_nothing_is_no_error),
    TEST(test_first_line_without_end_is_not_believed),
    TEST(test_code_alone_tells_the_language_when_it_stands_out),
    TEST(test_every_declaration_is_complete),
    TEST(test_programs_and_compilers_that_need_no_sockets_have_none),
    TEST(test_every_word_names_one_language),
    TEST(test_java_is_named_after_the_public_type_in_it),
    TEST(test_an_unknown_language_is_refused_with_what_was_meant),
    TEST(test_list_names_them_all_and_stays_inside_its_buffer),
    TEST(test_options_that_exclude_each_other_are_refused),
    TEST(test_every_kind_has_a_number),
    TEST(test_kinds_beyond_the_most_are_counted_and_named),
};
CHECK_MAIN(tests)
