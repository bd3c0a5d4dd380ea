#include "normalise/normalise.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "check.h"

#define SEPARATOR "%%%\n"

static const char *name_of(const struct language *l)
{
    return l ? l->name : "(none)";
}

static void check_normal(const char *text, const char *given, const char *file, const char *code,
                         const char *language, enum language_source source)
{
    struct err e = { 0 };
    scoped(normalised) n = { 0 };
    const struct normalise_request q = { .text = text,
                                         .len = strlen(text),
                                         .given = given ? language_find(given) : NULL,
                                         .file_name = file };
    if (!CHECK_INT(normalise(&q, &n, &e), 0)) {
        printf("    %s\n", e.text);
        return;
    }
    bool good = CHECK_STR(buf_str(&n.code), code);
    good = CHECK_STR(name_of(n.language), language) && good;
    if (!CHECK_STR(language_source_word(n.source), language_source_word(source)) || !good)
        printf("    of: %s\n", text);
}

static void test_the_order_is_given_fence_first_line_name_content(void)
{
    check_normal("print(1)", "bash", NULL, "print(1)", "bash", SOURCE_GIVEN);
    check_normal("```ruby\n#!/bin/bash\nprint(1)\n```\n", NULL, NULL, "#!/bin/bash\nprint(1)\n",
                 "ruby", SOURCE_FENCE);
    check_normal("```ruby\nputs 1\n```\n", "perl", NULL, "puts 1\n", "perl", SOURCE_GIVEN);
    check_normal("#!/bin/bash\nprint(1)\n", NULL, NULL, "#!/bin/bash\nprint(1)\n", "bash",
                 SOURCE_SHEBANG);
    check_normal("#!/bin/bash\nprint(1)\n", NULL, "x.py", "#!/bin/bash\nprint(1)\n", "bash",
                 SOURCE_SHEBANG);
    check_normal("echo 1\n", NULL, "x.py", "echo 1\n", "python", SOURCE_NAME);
    check_normal("echo 1\n", NULL, "x.tex", "echo 1\n", "(none)", SOURCE_NONE);
    check_normal("echo 1\n", NULL, NULL, "echo 1\n", "bash", SOURCE_CONTENT);
    check_normal("echo 1\n", NULL, "a.d/answer", "echo 1\n", "bash", SOURCE_CONTENT);
    check_normal("echo 1\n", NULL, "answer.TXT", "echo 1\n", "bash", SOURCE_CONTENT);
    check_normal("echo 1\n", "ruby", "answer.txt", "echo 1\n", "ruby", SOURCE_GIVEN);
    check_normal("one two three four", NULL, NULL, "one two three four", "(none)", SOURCE_NONE);
    check_normal("#!/usr/bin/python3\r\nx\r\n", NULL, "x.py", "#!/usr/bin/python3\r\nx\r\n",
                 "python", SOURCE_NAME); /* both say it */
}

static void test_a_beginning_that_is_one_languages_alone_decides(void)
{
    static const char *const programs[] = {
        "<?php\n#include <stdio.h>\nint main(void) {\n    printf(\"x\");\n    return 0;\n}\n",
        "<?php echo <<<'X'\nimport os\ndef f():\n    return os.getcwd()\nprint(f())\nX;\n",
        "\n  <?php\nSELECT 1;\nINSERT INTO t VALUES (1);\n",
        "\xEF\xBB\xBF<?php\nuse strict;\nmy $x = 1;\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        check_normal(programs[i], NULL, NULL, programs[i], "php", SOURCE_CONTENT);
    /* elsewhere it is a line as any other */
    static const char in_python[] =
        "import sys\ndef page():\n    return '<?php'\nprint(page(), file=sys.stderr)\n";
    check_normal(in_python, NULL, NULL, in_python, "python", SOURCE_CONTENT);
}

static void test_wrappings_are_taken_off(void)
{
    static const struct {
        const char *text, *code, *language;
        enum language_source source;
    } rows[] = {
        { "```python\nprint(1)\n```", "print(1)\n", "python", SOURCE_FENCE },
        { "```py\nprint(1)\n```\n", "print(1)\n", "python", SOURCE_FENCE },
        { "```Python\nprint(1)\n```\n", "print(1)\n", "python", SOURCE_FENCE },
        { "~~~js\nconsole.log(1)\n~~~\n", "console.log(1)\n", "javascript", SOURCE_FENCE },
        { "````sh\necho '```'\n````\n", "echo '```'\n", "bash", SOURCE_FENCE },
        { "``` {.ruby .numberLines}\nputs 1\n```\n", "puts 1\n", "ruby", SOURCE_FENCE },
        { "   ```lua\n   print(1)\n   ```\n", "print(1)\n", "lua", SOURCE_FENCE },
        { "```\necho hi\n```\n", "echo hi\n", "bash", SOURCE_CONTENT },
        { "```text\necho hi\n```\n", "echo hi\n", "bash", SOURCE_CONTENT },
        { "```\nx\n```\n", "x\n", "(none)", SOURCE_NONE },
        { "```python\nprint(1)\n", "print(1)\n", "python", SOURCE_FENCE }, /* never closed */
        { "```python\nx = 1\n```\nand then\n```python\nprint(x)\n```\n", "x = 1\nprint(x)\n",
          "python", SOURCE_FENCE },
        { "```python\nx = 1\n```\n```bash\necho\n```\n", "x = 1\n", "python", SOURCE_FENCE },
        { "Sure, here you go:\n\n```perl\nprint 1;\n```\n\nHope this helps.\n", "print 1;\n",
          "perl", SOURCE_FENCE },
        { "```python\r\nprint(1)\r\nprint(2)\r\n```\r\n", "print(1)\nprint(2)\n", "python",
          SOURCE_FENCE },
        { "\xEF\xBB\xBF```python\nprint(1)\n```\n", "print(1)\n", "python", SOURCE_FENCE },
        { "\xEF\xBB\xBF{'generated_code': 'print(1)'}", "print(1)", "python", SOURCE_CONTENT },
        { "{'generated_code': 'print(1)'}", "print(1)", "python", SOURCE_CONTENT },
        { "{\"generated_code\": \"print(1)\"}", "print(1)", "python", SOURCE_CONTENT },
        { "{'generated_code': '```bash\\necho 1\\n```'}", "echo 1\n", "bash", SOURCE_FENCE },
        { "{\"generated_code\": \"```ruby\\nputs 1\\n```\", \"timeout\": 5}", "puts 1\n", "ruby",
          SOURCE_FENCE },
        { "{'generated_code': '%'}", "%", "python", SOURCE_CONTENT },
        { "```python print(1)```", "print(1)", "python", SOURCE_FENCE },
        { "```js:app.js\nf()\n```\n", "f()\n", "javascript", SOURCE_FENCE },
        { "```{r, echo=FALSE}\nf()\n```\n", "f()\n", "r", SOURCE_FENCE },
        { "1. Do:\n\n    ```python\n    if x:\n        y()\n    ```\n2. Done\n", "if x:\n    y()\n",
          "python", SOURCE_FENCE },
        { "- ```js\n  f()\n  ```\n", "f()\n", "javascript", SOURCE_FENCE },
        { "> Look:\n> ```python\n> if x:\n>     y()\n> ```\n", "if x:\n    y()\n", "python",
          SOURCE_FENCE },
        { "\xE2\x80\x8B```python\nf()\n```\n", "f()\n", "python", SOURCE_FENCE },
        { "```python\nif x:\n\xC2\xA0\xC2\xA0y('\xC2\xA0')\n```\n", "if x:\n  y('\xC2\xA0')\n",
          "python", SOURCE_FENCE },
        { "```json\n{\"generated_code\": \"import os\"}\n```\n", "import os", "python",
          SOURCE_CONTENT },
        { "{'generated_code': 'f()', 'language': 'lua'}", "f()", "lua", SOURCE_FENCE },
        { "import os\nif 1 &lt; 2 and x:\n    print(&quot;&amp;&quot;)\n",
          "import os\nif 1 < 2 and x:\n    print(\"&\")\n", "python", SOURCE_CONTENT },
        { "```cobol\nDISPLAY 'X'.\n```\n", "DISPLAY 'X'.\n", "(none)", SOURCE_NONE },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_normal(rows[i].text, NULL, NULL, rows[i].code, rows[i].language, rows[i].source);
}

static void test_what_is_no_wrapping_stays_byte_for_byte(void)
{
    static const char *const texts[] = {
        "s = '''\n```\nx\n```\n'''\nprint(s)\n",
        "\xEF\xBB\xBFprint(1)\n",
        "print(1)\r\nprint(2)\r\n",
        "{'generated_code': 1}",
        "{'generated_code': 'x'",
        "echo '```'\n",
        "print('&lt;b&gt;')\n",
        "s = '''\na &lt; b\n'''\n",
        "<p>a &lt; b</p>\n",
        "a &lt; b && c\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err e = { 0 };
        scoped(normalised) n = { 0 };
        const struct normalise_request q = { .text = texts[i], .len = strlen(texts[i]) };
        CHECK_INT(normalise(&q, &n, &e), 0);
        CHECK_STR(buf_str(&n.code), texts[i]);
        CHECK(!n.unwrapped);
    }
    /* a program that is given, or is in a file of its own, stays unchanged unless it begins with a
     * fence */
    check_normal("{'generated_code': 'x'}", "python", NULL, "{'generated_code': 'x'}", "python",
                 SOURCE_GIVEN);
    check_normal("```python\nprint(1)\n```\n", NULL, "x.py", "```python\nprint(1)\n```\n", "python",
                 SOURCE_NAME);
    check_normal("\n ```\nprint(1)\n ```\n", "python", NULL, "print(1)\n", "python", SOURCE_GIVEN);
    struct err e = { 0 };
    scoped(normalised) n = { 0 };
    CHECK_INT(normalise(&(struct normalise_request){ .text = "print(1)\0x", .len = 10 }, &n, &e),
              0);
    CHECK_INT(n.code.len, 10);
}

static void test_markdown_is_the_program_it_holds(void)
{
    static const char text[] =
        "# How to\n\nInstall `x = 1` first:\n\n```console\n$ apt-get install\n"
        "```\n\nThen f(x):\n\n```python\nprint(1)\n```\n\n```ruby\nputs 2\n"
        "```\n\n```python\nprint(3)\n```\n";
    check_normal(text, NULL, "README.md", "print(1)\nprint(3)\n", "python", SOURCE_FENCE);
    check_normal(text, "ruby", "doc/README.Markdown", "puts 2\n", "ruby", SOURCE_GIVEN);
    check_normal("# x\n\n```\necho hi\n```\n", NULL, "x.md", "echo hi\n", "bash", SOURCE_CONTENT);
    struct err e = { 0 };
    scoped(normalised) n = { 0 };
    CHECK_INT(
        normalise(&(struct normalise_request){ .text = "# x\n", .len = 4, .file_name = "x.md" }, &n,
                  &e),
        -1);
    CHECK(strstr(e.text, "no fenced program: ") != NULL);
    CHECK_INT(normalise(&(struct normalise_request){ .text = text,
                                                     .len = strlen(text),
                                                     .given = language_find("perl"),
                                                     .file_name = "x.md" },
                        &n, &e),
              -1);
    CHECK(strstr(e.text, "no fenced program in perl: ") != NULL);
}

static void test_of_many_blocks_those_of_the_main_language_are_the_program(void)
{
    static const struct {
        const char *text, *code, *language;
        enum language_source source;
    } rows[] = {
        /* a shell block installs and starts the program that is meant */
        { "```bash\npip install x\n```\nThen:\n```python\nimport x\n```\n", "import x\n", "python",
          SOURCE_FENCE },
        { "```go\nf()\n```\n```sh\ngo mod init x\ngo mod tidy\ngo run .\n```\n", "f()\n", "go",
          SOURCE_FENCE },
        { "```sh\ncd x\n```\n```bash\nls\n```\n", "cd x\nls\n", "bash", SOURCE_FENCE },
        /* the most lines; of as many, the first */
        { "```sql\nSELECT 1;\n```\n```ruby\na\nb\n```\n", "a\nb\n", "ruby", SOURCE_FENCE },
        { "```ts\na\n```\n```js\nb\n```\n", "a\n", "typescript", SOURCE_FENCE },
        /* one language by several names */
        { "```py\na\n```\n```python3\nb\n```\n", "a\nb\n", "python", SOURCE_FENCE },
        /* examples beside it */
        { "```json\n{\"a\": 1}\n```\n```diff\n-a\n```\n```python\na\n```\n```output\n1\n2\n```\n",
          "a\n", "python", SOURCE_FENCE },
        { "```python\nprint(1)\n```\nOutput:\n```\n1\n```\n", "print(1)\n", "python",
          SOURCE_FENCE },
        { "Not:\n```\nimport os\nprint(2)\n```\n```py\nx = 1\n```\n", "x = 1\n", "python",
          SOURCE_FENCE },
        { "```\nimport os\nprint(os.name)\n```\nOutput:\n```\nposix\n```\n",
          "import os\nprint(os.name)\n", "python", SOURCE_CONTENT },
        { "```\n$ pip install x\n```\n```\nimport x\nprint(x.y)\n```\n", "import x\nprint(x.y)\n",
          "python", SOURCE_CONTENT },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_normal(rows[i].text, NULL, NULL, rows[i].code, rows[i].language, rows[i].source);
    struct err e = { 0 };
    scoped(normalised) n = { 0 };
    const struct normalise_request q = { .text = rows[6].text, .len = strlen(rows[6].text) };
    CHECK_INT(normalise(&q, &n, &e), 0);
    CHECK(n.blocks == 4 && n.used == 1);
}

static void test_a_language_that_is_given_chooses_its_blocks(void)
{
    static const char text[] =
        "A:\n```python\nprint(1)\n```\nB:\n```js\nf()\n```\nC:\n```\nx\n```\n";
    check_normal(text, "javascript", NULL, "f()\n", "javascript", SOURCE_GIVEN);
    check_normal(text, "lua", NULL, "x\n", "lua", SOURCE_GIVEN); /* may be anybody's */
}

static void test_sessions_are_what_was_typed(void)
{
    static const struct {
        const char *text, *code, *language;
        enum language_source source;
    } rows[] = {
        { ">>> x = 2\n>>> for i in y:\n...     f(i)\n...\n0\n>>> x\n2\n",
          "x = 2\nfor i in y:\n    f(i)\n\nx\n", "python", SOURCE_CONTENT },
        { "In [1]: x = 2\n\nIn [2]: x\nOut[2]: 2\n", "x = 2\nx\n", "python", SOURCE_CONTENT },
        { "In [12]: if x:\n    ...:     f()\n    ...: \n1\n", "if x:\n    f()\n\n", "python",
          SOURCE_CONTENT },
        { "$ echo a \\\n    b\na b\n$ npm test\n> x@1 test\n", "echo a \\\n    b\nnpm test\n",
          "bash", SOURCE_CONTENT },
        { "irb(main):001:0> x = 1\n=> 1\n", "x = 1\n", "ruby", SOURCE_CONTENT },
        { "sqlite> SELECT\n   ...> 1;\n1\n", "SELECT\n1;\n", "sqlite", SOURCE_CONTENT },
        { "postgres=# SELECT 1;\n 1\n", "SELECT 1;\n", "postgres", SOURCE_CONTENT },
        { "```console\n$ ls\na\n```\n", "ls\n", "bash", SOURCE_FENCE },
        { "```pycon\n>>> f()\n1\n```\n", "f()\n", "python", SOURCE_FENCE },
        { "```r\n> x <- 1\n> x\n[1] 1\n```\n", "x <- 1\nx\n", "r", SOURCE_FENCE },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_normal(rows[i].text, NULL, NULL, rows[i].code, rows[i].language, rows[i].source);
    /* not a session: a file, and a command that empties one */
    check_normal("$ ls\n", NULL, "x.sh", "$ ls\n", "bash", SOURCE_NAME);
    check_normal("> x\nls\n", "bash", NULL, "> x\nls\n", "bash", SOURCE_GIVEN);
}

static void test_what_is_not_told_names_what_it_could_be(void)
{
    char out[128];
    struct err e = { 0 };
    scoped(normalised) n = { 0 };
    const struct normalise_request q = { .text = "int i = 0;\n", .len = 11 };
    CHECK_INT(normalise(&q, &n, &e), 0);
    CHECK(!n.language && n.n_likely >= 2);
    CHECK(strstr(normalise_likely(&n, out, sizeof out), ", which could be ") == out);
    CHECK(strstr(out, "java") && strstr(out, " or "));
    n.n_likely = 0;
    CHECK_STR(normalise_likely(&n, out, sizeof out), "");
}

/* The CPU time of a mebibyte that is made of one piece; generous, since machines differ. */
static void check_fast(const char *piece)
{
    enum { LENGTH = 1 << 20, MOST_MS = 3000 };
    struct err e = { 0 };
    scoped(buf) text = { 0 };
    scoped(normalised) n = { 0 };
    while (text.len < LENGTH)
        CHECK_INT(buf_add(&text, piece, strlen(piece), &e), 0);
    const struct normalise_request q = { .text = buf_str(&text), .len = text.len };
    clock_t start = clock();
    (void)normalise(&q, &n, &e);
    long ms = (long)((clock() - start) * 1000 / CLOCKS_PER_SEC);
    if (!CHECK(ms < MOST_MS))
        printf("    %ld ms for: %s\n", ms, piece);
}

static void test_time_is_linear_in_the_text(void)
{
    static const char *const pieces[] = {
        "```\n",
        "```\nx\n```\n",
        "```python\nx\n```\n",
        "````\n```\n",
        "~~~\n```\n",
        "> ",
        "- ",
        "\"\"\"\n",
        "/*\n",
        "<<EOF\n",
        "&lt;",
        "&",
        "\n",
        "a\n",
        "a",
        "1",
        "$ x\\\n",
        ">>> x\n",
        "```\n$ x\n```\n",
        "{'generated_code': ",
        "import x = (\n",
        "\xE2\x80\x8B",
    };
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
        check_fast(pieces[i]);
}

struct score {
    unsigned programs, right, wrong;
};

static void score_file(const char *path, const struct language *l, struct score *s)
{
    struct err e = { 0 };
    scoped(buf) text = { 0 };
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!CHECK(fd >= 0) || !CHECK_INT(fd_read_to_buf(fd, 1 << 20, &text, &e), 0))
        return;
    const char *at = buf_str(&text);
    for (unsigned i = 0;; i++) {
        const char *end = strstr(at, "\n" SEPARATOR);
        size_t n = end ? (size_t)(end - at) + 1 : strlen(at);
        const struct language *told = language_infer(at, n);
        s->programs++;
        s->right += told == l;
        s->wrong += told && told != l;
        if (told != l)
            printf("    %s %u: %s\n", l->name, i, name_of(told));
        if (!end)
            break;
        at = end + 1 + strlen(SEPARATOR);
    }
}

static void test_content_tells_the_language_of_the_corpus(void)
{
    struct score all = { 0 };
    unsigned known = 0;
    for (const struct language *const *l = languages; *l; l++) {
        char path[4200];
        struct score s = { 0 };
        (void)snprintf(path, sizeof path, CORPUS_DIR "/%s.txt", (*l)->name);
        score_file(path, *l, &s);
        CHECK(s.programs >= 10);
        all.programs += s.programs;
        all.right += s.right;
        all.wrong += s.wrong;
        known++;
    }
    printf("    %u of %u programs in %u languages, %u taken for another\n", all.right, all.programs,
           known, all.wrong);
    CHECK(all.right * 100 >= all.programs * 97);
}

static void test_what_is_no_program_is_no_language(void)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "x",
        "42",
        "1 + 1",
        "a = b + c",
        "hello world",
        "Here is a list of things to do:\n- buy milk\n- call home\n",
        "Dear team,\n\nfrom next week on we will import goods from abroad.\nBest,\nA.",
        "# Title\n\nSome text about programming in Python and Ruby.\n",
        "name,age\nada,36\nbob,41\n",
        "{\n  \"name\": \"x\",\n  \"n\": [1, 2]\n}\n",
        "key: value\nlist:\n  - a\n  - b\n",
        "<div class=\"x\">\n  <p>hi</p>\n</div>\n",
        "let me know if this works for you",
        "select one of these options and go on",
        "with kind regards\nthe team",
        "print(1)\necho 1",
        "{\"language\": \"ruby\", \"code\": \"puts 'x'\"}",
        "x = 5;\ny = 6;\nprint(x + y);\n", /* any of five */
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!CHECK_STR(name_of(language_infer(texts[i], strlen(texts[i]))), "(none)"))
            printf("    of: %s\n", texts[i]);
}

static const struct check_test tests[] = {
    TEST(test_the_order_is_given_fence_first_line_name_content),
    TEST(test_a_beginning_that_is_one_languages_alone_decides),
    TEST(test_wrappings_are_taken_off),
    TEST(test_what_is_no_wrapping_stays_byte_for_byte),
    TEST(test_markdown_is_the_program_it_holds),
    TEST(test_of_many_blocks_those_of_the_main_language_are_the_program),
    TEST(test_a_language_that_is_given_chooses_its_blocks),
    TEST(test_sessions_are_what_was_typed),
    TEST(test_what_is_not_told_names_what_it_could_be),
    TEST(test_time_is_linear_in_the_text),
    TEST(test_content_tells_the_language_of_the_corpus),
    TEST(test_what_is_no_program_is_no_language),
};
CHECK_MAIN(tests)
