#include "api/artifacts/detect.h"

#include "check.h"

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static void check_nth(const json_t *list, size_t i, const char *content, const char *language,
                      const char *title, const char *type)
{
    const json_t *o = json_array_get(list, i);
    CHECK_STR(text_of(o, "content"), content);
    CHECK_STR(text_of(o, "language"), language);
    CHECK_STR(text_of(o, "title"), title);
    CHECK_STR(text_of(o, "artifact_type"), type);
}

static void test_every_fenced_block_is_an_artifact(void)
{
    static const char text[] = "Hello.\n\n## Sorting\nSome words.\n```python\nprint(1)\n```\n"
                               "**A page**\n\n```html\n<p>\n```\nand more\n```\nplain\n```\n"
                               "Run this:\n~~~\n#!/bin/bash\nls\n~~~\n";
    json_t *list = detect_artifacts(text, strlen(text));
    CHECK_INT(json_array_size(list), 4);
    check_nth(list, 0, "print(1)\n", "python", "Sorting", "code");
    check_nth(list, 1, "<p>\n", "html", "A page", "html");
    check_nth(list, 2, "plain\n", "text", "Text snippet 3", "code");
    check_nth(list, 3, "#!/bin/bash\nls\n", "bash", "Run this", "code");
    json_decref(list);
}

static void test_title_is_the_first_definition(void)
{
    static const struct {
        const char *fence, *code, *title;
    } rows[] = {
        { "py", "import os\n\nasync def load(x):\n    pass\nclass B:\n    pass\n", "load" },
        { "python", "class Stack(list):\n    def push(self): pass\n", "Stack" },
        { "js", "export default function Counter() {}\n", "Counter" },
        { "js", "function* all() {}\n", "all" },
        { "js", "const x = 1\nconst greet = async (n) => n\n", "greet" },
        { "go", "package main\nfunc main() {}\n", "main" },
        { "rust", "pub fn run() {}\n", "run" },
        { "java", "public final class Main {\n}\n", "Main" },
        { "js", "define('x')\nclassy = 2\n", "Js snippet 1" },
        { "py", "def\nclass 1:\n", "Py snippet 1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[300];
        int n = snprintf(text, sizeof text, "Words.\n\n```%s\n%s```\n", rows[i].fence,
                         rows[i].code);
        json_t *list = detect_artifacts(text, (size_t)n);
        check_nth(list, 0, rows[i].code, rows[i].fence, rows[i].title, "code");
        json_decref(list);
    }
}

static void test_react_is_told_from_javascript(void)
{
    static const struct {
        const char *fence, *code, *type;
    } rows[] = {
        { "js", "import React from 'react'\nlet a\n", "react" },
        { "ts", "import { useState } from \"react\"\n", "react" },
        { "javascript", "const A = () => {\n  return (\n    <div>hi</div>\n  )\n}\n", "react" },
        { "jsx", "let a = <b/>\n", "react" },
        { "js", "return (a < b)\nreturn a <b\n", "code" },
        { "js", "const s = 'react'\nconsole.log(s)\n", "code" },
        { "python", "x = \"from 'react'\"\n", "code" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[300];
        int n = snprintf(text, sizeof text, "```%s\n%s```\n", rows[i].fence, rows[i].code);
        json_t *list = detect_artifacts(text, (size_t)n);
        CHECK_STR(text_of(json_array_get(list, 0), "artifact_type"), rows[i].type);
        CHECK_STR(text_of(json_array_get(list, 0), "language"), rows[i].fence);
        json_decref(list);
    }
}

static void test_text_without_blocks_has_none(void)
{
    json_t *list = detect_artifacts("no code, only `words`", 21);
    CHECK_INT(json_array_size(list), 0);
    json_decref(list);
    list = detect_artifacts("```python\n```\n", 14);
    CHECK_INT(json_array_size(list), 0);
    json_decref(list);
    list = detect_artifacts("", 0);
    CHECK_INT(json_array_size(list), 0);
    json_decref(list);
}

static void test_long_titles_are_cut_between_characters(void)
{
    char text[400] = "# ";
    size_t used = 2;
    for (int i = 0; i < 60; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\xe2\x82\xac");
    used += (size_t)snprintf(text + used, sizeof text - used, "\n```js\nx\n```\n");
    json_t *list = detect_artifacts(text, used);
    CHECK_INT(json_string_length(json_object_get(json_array_get(list, 0), "title")), 78);
    json_decref(list);
}

static void test_artifact_types(void)
{
    CHECK_STR(artifact_type("HTML"), "html");
    CHECK_STR(artifact_type("htm"), "html");
    CHECK_STR(artifact_type("svg"), "svg");
    CHECK_STR(artifact_type("mermaid"), "mermaid");
    CHECK_STR(artifact_type("tex"), "latex");
    CHECK_STR(artifact_type("python"), "code");
    CHECK_STR(artifact_type(""), "code");
}

static const struct check_test tests[] = {
    TEST(test_every_fenced_block_is_an_artifact),      TEST(test_title_is_the_first_definition),
    TEST(test_react_is_told_from_javascript),          TEST(test_text_without_blocks_has_none),
    TEST(test_long_titles_are_cut_between_characters), TEST(test_artifact_types),
};
CHECK_MAIN(tests)
