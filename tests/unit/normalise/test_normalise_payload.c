#include "normalise/payload.h"

#include <stdlib.h>

#include "base/auto.h"
#include "check.h"

static void check_unwraps(const char *text, const char *code, const char *language)
{
    struct err e = { 0 };
    scoped(payload) p = { 0 };
    if (!CHECK_INT(payload_unwrap(text, strlen(text), NULL, &p, &e), 0))
        return;
    if (!CHECK_STR(buf_str(&p.code), code) || !CHECK_STR(p.language, language))
        printf("    of: %s\n", text);
}

static void check_stays(const char *text)
{
    check_unwraps(text, text, "");
}

static void test_raw_code_stays_byte_for_byte(void)
{
    check_stays("");
    check_stays("print(1)");
    check_stays("  \n\tprint(1)\n\n  ");
    check_stays("print(1)\r\nprint(2)\r\n");
    check_stays("\xff\xfe");
    check_stays("`ls`");
    check_stays("x = '```'");
    struct err e = { 0 };
    scoped(payload) p = { 0 };
    CHECK_INT(payload_unwrap("a\0b", 3, NULL, &p, &e), 0);
    CHECK(p.code.len == 3 && memcmp(p.code.data, "a\0b", 3) == 0);
}

static void test_code_that_starts_with_the_word_python_stays(void)
{
    check_stays("python = 3\nprint(python)");
    check_stays("python3 = 1");
    check_stays("py\n");
    check_stays("pythonic()");
    check_stays("python");
}

static void test_dict_literals_are_unwrapped(void)
{
    check_unwraps("{'generated_code': 'print(1)'}", "print(1)", "");
    check_unwraps("{\"generated_code\": \"print(1)\"}", "print(1)", "");
    check_unwraps(" {'generated_code':'print(1)',}\n", "print(1)", "");
    check_unwraps(
        "{'a': 1, 'generated_code': 'x', 'timeout': 1.5e3, 'b': [1, {'c': None}], 'd': -2}", "x",
        "");
    check_unwraps("{'generated_code': \"print('hi')\"}", "print('hi')", "");
    check_unwraps("{'generated_code': 'print(\"hi\")'}", "print(\"hi\")", "");
    check_unwraps("{'generated_code': '''a\nb'''}", "a\nb", "");
    check_unwraps("{'generated_code': \"\"\"a \"b\" c\"\"\"}", "a \"b\" c", "");
    check_unwraps("{'generated_code': ''}", "", "");
    check_unwraps("{'generated_code': 'a\nb'}", "a\nb", "");
    check_unwraps("{\"generated_code\": \"x\", \"n\": null, \"t\": true}", "x", "");
    check_unwraps("{'generated_code': 'a', 'generated_code': 'b'}", "b", "");
    check_unwraps("{'generated_code': 'a\\n' r\"b\"\n'c', }", "a\nbc", "");
    check_unwraps("{'language': 'ruby', 'generated_code': 'puts 1'}", "puts 1", "ruby");
    check_unwraps("{\"generated_code\": \"x\", \"language\": \"lua\"}", "x", "lua");
}

static void test_escapes_in_dicts(void)
{
    check_unwraps("{'generated_code': 'a\\nb\\tc\\\\d\\'e\\\"f'}", "a\nb\tc\\d'e\"f", "");
    check_unwraps("{'generated_code': '\\x41\\u00e9\\U0001F600\\101'}",
                  "A\xc3\xa9\xf0\x9f\x98\x80"
                  "A",
                  "");
    check_unwraps("{\"generated_code\": \"\\ud83d\\ude00\\/\"}", "\xf0\x9f\x98\x80/", "");
    check_unwraps("{'generated_code': '\\ud83d\\ude00'}", "\xf0\x9f\x98\x80", "");
    check_unwraps("{'generated_code': 'a\\\nb'}", "ab", "");
    check_unwraps("{'generated_code': '\\d\\/'}", "\\d\\/", "");
    check_unwraps("{'generated_code': r'\\n\\''}", "\\n\\'", "");
}

static void test_what_is_no_such_dict_stays(void)
{
    check_stays("{'generated_code': 'print(1)'");
    check_stays("{'generated_code': 'print(1)'} ; x");
    check_stays("{'generated_code': print(1)}");
    check_stays("{'generated_code': 1}");
    check_stays("{'code': 'print(1)'}");
    check_stays("{'generated_code'}");
    check_stays("{'generated_code': f'{x}'}");
    check_stays("{'generated_code': b'x'}");
    check_stays("{'generated_code': '\\x4'}");
    check_stays("{'generated_code': '\\ud83d'}");
    check_stays("{'generated_code': '\\N{DASH}'}");
    check_stays("d = {'generated_code': 'x'}");
    check_stays("{'generated_code': 'x'}.get('generated_code')");
}

static void test_nesting_in_dicts_is_bounded(void)
{
    scoped(buf) b = { 0 };
    struct err e = { 0 };
    CHECK_INT(buf_addf(&b, &e, "{'generated_code': 'x', 'a': "), 0);
    for (int i = 0; i < 100000; i++)
        CHECK_INT(buf_add(&b, "[", 1, &e), 0);
    scoped(buf) code = { 0 };
    char language[FENCE_LANGUAGE_SIZE];
    CHECK(!payload_dict(b.data, b.len, &code, language));
}

static void test_a_fenced_block_is_unwrapped(void)
{
    check_unwraps("```python\nprint(1)\n```", "print(1)\n", "python");
    check_unwraps("```py\nprint(1)\n```\n", "print(1)\n", "python");
    check_unwraps("```Python3\nprint(1)\n```", "print(1)\n", "python");
    check_unwraps("```\nprint(1)\n```", "print(1)\n", "");
    check_unwraps("~~~\nprint(1)\n~~~", "print(1)\n", "");
    check_unwraps("~~~ bash\nls\n~~~~", "ls\n", "bash");
    check_unwraps("\n\n  ```python\n  if x:\n    y\n  ```\n", "if x:\n  y\n", "python");
    /* the document's line ends, not the program's: bash would choke on them */
    check_unwraps("```python\r\nprint(1)\r\n```\r\n", "print(1)\n", "python");
    check_unwraps("```{.c++ x=1}\nint x;\n```", "int x;\n", "cpp");
    check_unwraps("```python\nprint(1)", "print(1)", "python");
    check_unwraps("```python\n```", "", "python");
    check_unwraps("````md\n```python\nx\n```\n````", "```python\nx\n```\n", "md");
}

static void test_a_fence_on_one_line(void)
{
    check_unwraps("```python print(1)```", "print(1)", "python");
    check_unwraps("```print(1)```", "print(1)", "");
    check_unwraps("```python = 3```", "python = 3", "");
}

static void test_prose_around_a_fence_is_left_out(void)
{
    check_unwraps("Here is the code:\n\n```python\nprint(1)\n```\nIt prints one.", "print(1)\n",
                  "python");
    check_unwraps("# Solution\nIt's easy (really):\n```\nprint(1)\n```\n", "print(1)\n", "");
    check_unwraps("```python\nprint(1)\n```\n\nThis calls print(1).", "print(1)\n", "python");
    check_unwraps("You can call `f(x)` or set y = 1 like this:\n```\nx\n```\n", "x\n", "");
    check_unwraps("This is the answer (assuming x = 5):\n```\nx\n```\n", "x\n", "");
    check_unwraps("It was cut off:\n```python\nprint(1)\n", "print(1)\n", "python");
}

static void test_blocks_of_one_language_are_joined(void)
{
    check_unwraps(
        "First:\n```python\na = 1\n```\nthen\n```bash\nls\n```\nand\n```python\nprint(a)\n```",
        "a = 1\nprint(a)\n", "python");
}

static void test_fences_inside_programs_stay(void)
{
    check_stays("s = \"\"\"\n```python\nx\n```\n\"\"\"\nprint(s)");
    check_stays("'''\n```python\nx\n```\n'''");
    check_stays("cat <<EOF\n```python\nx\n```\nEOF");
    check_stays("const s = `\n```python\nx\n```\n`");
    check_stays("import os\n```python\nx\n```");
    check_stays("echo \"\n```sh\nx\n```\n\"");
    check_stays("some words\n```\nwithout an end");
    check_stays("/*\nHow to use it\n```js\nx\n```\n*/\nf();");
    check_stays("--[[\nHow to use it\n```lua\nx\n```\n]]\nf()");
}

static void test_a_dict_with_a_fence_inside(void)
{
    check_unwraps("{'generated_code': '```python\\nprint(1)\\n```'}", "print(1)\n", "python");
}

static const struct check_test tests[] = {
    TEST(test_raw_code_stays_byte_for_byte),
    TEST(test_code_that_starts_with_the_word_python_stays),
    TEST(test_dict_literals_are_unwrapped),
    TEST(test_escapes_in_dicts),
    TEST(test_what_is_no_such_dict_stays),
    TEST(test_nesting_in_dicts_is_bounded),
    TEST(test_a_fenced_block_is_unwrapped),
    TEST(test_a_fence_on_one_line),
    TEST(test_prose_around_a_fence_is_left_out),
    TEST(test_blocks_of_one_language_are_joined),
    TEST(test_fences_inside_programs_stay),
    TEST(test_a_dict_with_a_fence_inside),
};
CHECK_MAIN(tests)
