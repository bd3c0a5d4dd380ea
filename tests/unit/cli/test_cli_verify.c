/* The checks that `belljar verify` finds in a Markdown text. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "cli/verify/check.h"
#include "cli/verify/compare.h"

static struct checks read_blocks(const char *text)
{
    struct checks all = { 0 };
    struct err e;
    CHECK_INT(blocks_read(&all, "a.md", text, strlen(text), &e), 0);
    return all;
}

/* "3 python block passed|..." for each check. */
static const char *summary(const struct checks *all, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < all->n && used < size; i++) {
        const struct check *c = &all->at[i];
        used += (size_t)snprintf(out + used, size - used, "%s%zu %s %s %s", i ? "|" : "", c->line,
                                 c->language ? c->language->name : "none", check_kind_word(c->kind),
                                 outcome_word(c->outcome));
    }
    return out;
}

static void test_blocks_that_name_a_language_are_checks(void)
{
    static const struct {
        const char *text, *checks;
    } rows[] = {
        { "", "" },
        { "# no block\n", "" },
        { "```python\n1\n```\n", "1 python block pending" },
        { "a\n\n~~~js\n1\n~~~\n", "3 javascript block pending" },
        { "- x\n  ```sh\n  true\n  ```\n", "2 bash block pending" },
        { "```{.python .numberLines}\n1\n```\n", "1 python block pending" },
        { "```json\n{}\n```\n```\nx\n```\n", "" },
        { "```python\n>>> 1\n1\n```\n", "1 python doctest pending" },
        { "```console\n$ ls\n```\n```sh\n$ ls\n```\n",
          "1 bash console pending|4 bash console pending" },
        { "```python skip\n1\n```\n", "1 python block skipped" },
        { "```python\n1\n", "1 python block error" },
        { "```python\n \n```\n", "1 python block error" },
        { "```console\nls\n```\n", "1 bash console error" },
        { "```python exit=x\n1\n```\n", "1 python block error" },
        { "```python continue\n1\n```\n", "1 python block error" },
        { "```output\n1\n```\n", "1 none block error" },
        { "````python\n```\n````\n```js\n1\n```\n",
          "1 python block pending|4 javascript block pending" },
        { "\357\273\277```python\r\n1\r\n```\r\n", "1 python block pending" },
    };
    char got[512];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(checks) all = read_blocks(rows[i].text);
        CHECK_STR(summary(&all, got, sizeof got), rows[i].checks);
    }
}

static void test_blocks_of_a_session_are_one_program(void)
{
    scoped(checks) all = read_blocks("```python session=a\nx = 1\n```\n```js session=b\n2\n```\n"
                                     "```python session=a exit=1\n1/0\n```\n"
                                     "```python session=a\n\nprint(x)\n```\n");
    scoped(buf) program = { 0 };
    struct err e;
    size_t line = 0;
    CHECK_INT(all.n, 4);
    CHECK_INT(all.at[3].prior, 2);
    CHECK(program_before(&all, &all.at[3]) == &all.at[0]); /* the one between them must fail */
    CHECK_INT(program_make(&all, &all.at[3], &program, &e), 0);
    CHECK_STR(buf_str(&program), "x = 1\n\nprint(x)\n");
    CHECK(program_place(&all, &all.at[3], 3, &line));
    CHECK_INT(line, 12);
    CHECK(!program_place(&all, &all.at[3], 4, &line));
}

static void test_commands_of_a_console_have_their_outputs(void)
{
    scoped(checks) all = read_blocks("```console\n$ a 'b\n> c'\n1\n2\n$ d |\n> e\n$ f\n```\n");
    const struct check *c = &all.at[0];
    CHECK_INT(c->n_steps, 3);
    CHECK_STR(buf_str(&c->steps[0].command), "a 'b\nc'\n");
    CHECK_STR(buf_str(&c->steps[0].expected), "1\n2\n");
    CHECK_STR(buf_str(&c->steps[1].command), "d |\ne\n");
    CHECK(!c->steps[1].compared);
    CHECK_INT(c->steps[2].line, 8);
}

static void test_a_command_cannot_end_the_output_of_another(void)
{
    scoped(checks) all = read_blocks("```console\n$ a\n1\n$ b\n2\n```\n");
    struct check *c = &all.at[0];
    scoped(buf) output = { 0 };
    struct err e;
    CHECK_INT(buf_addf(&output, &e, "\n%s 0\n1\n\nguess 0\n\n%s 3\n2\n", c->marker, c->marker), 0);
    CHECK_INT(console_split(c, buf_str(&output), output.len, &e), 0);
    CHECK_STR(buf_str(&c->steps[0].got), "1\n\nguess 0\n");
    CHECK_INT(c->steps[0].status, 3);
    CHECK(c->steps[0].reached && !c->steps[1].reached);
    CHECK_STR(buf_str(&c->steps[1].got), "2\n");
}

static void test_dots_stand_for_text_and_lines(void)
{
    static const struct {
        const char *expected, *got;
        bool matches;
    } rows[] = {
        { "a\n", "a", true },        { "a", "a  \n\n", true },
        { "a", "b", false },         { "a…c", "abbc", true },
        { "a...", "a", true },       { "…\nz", "1\n2\nz", true },
        { "…\nz", "1\n2\n", false }, { "a\n…\nb\n…", "a\nb", true },
        { "", "\n", true },          { "a…b…c", "axbxbxc", true },
        { "...", "", true },         { "a…b", "a\nb", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_INT(output_matches(rows[i].expected, strlen(rows[i].expected), rows[i].got,
                                 strlen(rows[i].got)),
                  rows[i].matches);
}

static const struct check_test tests[] = {
    TEST(test_blocks_that_name_a_language_are_checks),
    TEST(test_blocks_of_a_session_are_one_program),
    TEST(test_commands_of_a_console_have_their_outputs),
    TEST(test_a_command_cannot_end_the_output_of_another),
    TEST(test_dots_stand_for_text_and_lines),
};
CHECK_MAIN(tests)
