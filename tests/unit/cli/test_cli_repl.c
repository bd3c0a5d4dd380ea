#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "cli/repl/editor.h"
#include "cli/repl/images.h"
#include "cli/repl/sixel.h"

static const struct {
    const char *language, *text;
    bool goes_on;
} texts[] = {
    { "python", "x = 1", false },
    { "python", "", false },
    { "python", "def f():", true },
    { "python", "def f():\n    return 1", true },
    { "python", "def f():\n    return 1\n", false },
    { "python", "f(1,", true },
    { "python", "f(')'", true },
    { "python", "x = ')'", false },
    { "python", "'''a\nb", true },
    { "python", "'''a\nb'''", false },
    { "python", "# (", false },
    { "python", "x = 1 + \\", true },
    { "python", "d = {1: 2}", false },
    { "javascript", "function f() {", true },
    { "javascript", "`a\n", true },
    { "javascript", "/* a", true },
    { "javascript", "f(\"{\")", false },
    { "typescript", "let x: number[] = [", true },
    { "bash", "for i in 1 2; do", true },
    { "bash", "for i in 1 2; do echo $i; done", false },
    { "bash", "echo 'a", true },
    { "bash", "ls |", true },
    { "bash", "true &&", true },
    { "bash", "case x in x) echo;; esac", false },
    { "bash", "echo a#b", false },
    { "javascript", "1 +", true },
    { "javascript", "x++", false },
    { "javascript", "f = x =>", true },
    { "javascript", "a ?? b", false },
    { "javascript", "a?", false },
    { "bash", "echo if", false },
    { "bash", "for i in 1; do echo done; done", false },
    { "bash", "if true; then echo fi", true },
    { "bash", "while read x\ndo", true },
    { "bash", "cat <<X", true },
    { "bash", "cat <<'X' | sort\ndon't", true },
    { "bash", "cat <<-X\ndon't\n\tX", false },
    { "bash", "cat <<X\na\nX\nif true", true },
    { "bash", "cat <<< X", false },
    { "bash", "echo $((1 << n))", false },
    { "bash", "echo $(cat <<X", true },
    { "bash", ": ${x:=(}", true },
    { "sqlite", ":vars", false },
    { "sqlite", "t?", false },
    { "sqlite", "SELECT 1", true },
    { "sqlite", "SELECT 1;", false },
    { "postgres", "SELECT ';'", true },
    { "sqlite", "SELECT 1; -- done", false },
    { "cobol", "ADD 1 (", true },
};

static void test_code_goes_on_until_it_can_be_complete(void)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *text = texts[i].text;
        if (scan_goes_on(syntax_of(texts[i].language), text, strlen(text)) != texts[i].goes_on)
            CHECK_STR(text, "");
    }
}

/* Types the text; the last event. */
static enum editor_event type(struct editor *d, const char *text)
{
    struct err e;
    enum editor_event event = EDITOR_MORE;
    for (; *text; text++)
        event = editor_byte(d, *text, &e);
    return event;
}

static struct editor new_editor(const char *language)
{
    struct editor d = { .syntax = syntax_of(language),
                        .prompt = "> ",
                        .more_prompt = ". ",
                        .columns = 80,
                        .rows = 24 };
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    editor_begin(&d);
    return d;
}

static void test_keys_edit_text_in_utf8(void)
{
    static const struct {
        const char *typed, *text;
    } rows[] = {
        { "a\303\251b", "a\303\251b" },
        { "a\303\251\177b", "ab" },
        { "ab\033[D\033[DX", "Xab" },
        { "\303\251\303\251\033[DX", "\303\251X\303\251" },
        { "one two\027X", "one X" },
        { "one two\001\013X", "X" },
        { "one two\025\031\031", "one twoone two" },
        { "one two\001\033fX", "oneX two" },
        { "ab\001\033[3~", "b" },
        { "ab\033[99~c", "abc" },
        { "ab\033[1;5DX", "Xab" },
        { "\001\002\177\033[3~\033[A\033[Bx", "x" },
        { "a\033\rb", "a\nb" },
        { "if x:\ry", "if x:\n    y" },
        { "if x:\r\177y", "if x:\ny" },
        { "\033[200~if x:\r\ny\tz\r\033[201~", "if x:\ny\tz\n" },
        { "ab\033\rc\033[AX", "aXb\nc" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(editor) d = new_editor("python");
        (void)type(&d, rows[i].typed);
        CHECK_STR(buf_str(&d.text), rows[i].text);
    }
}

static void test_enter_ends_a_complete_text(void)
{
    scoped(editor) d = new_editor("python");
    CHECK_INT(type(&d, "f(1\r"), EDITOR_MORE);
    CHECK_INT(type(&d, "\177\177\177\177)\r"), EDITOR_ENTER);
    editor_begin(&d);
    CHECK_INT(type(&d, "\003"), EDITOR_INTERRUPT);
    CHECK_INT(type(&d, "\004"), EDITOR_END);
    CHECK_INT(type(&d, "a\001\004\t"), EDITOR_MORE); /* Tab indents at the start of a line */
    CHECK_INT(type(&d, "pri\t"), EDITOR_COMPLETE);
}

static void test_two_empty_lines_leave_a_bracket_that_is_not_closed(void)
{
    scoped(editor) d = new_editor("python");
    CHECK_INT(type(&d, "def f(:\r\r"), EDITOR_MORE);
    CHECK_INT(type(&d, "\r"), EDITOR_ENTER);
    editor_begin(&d);
    CHECK_INT(type(&d, "s = '''\r\r\r\r"), EDITOR_MORE); /* empty lines of a text */
    CHECK_INT(type(&d, "'''\r"), EDITOR_ENTER);
}

static void test_closing_brackets_end_the_indentation(void)
{
    scoped(editor) d = new_editor("javascript");
    CHECK_INT(type(&d, "if (x) {\rf()\r}"), EDITOR_MORE);
    CHECK_STR(buf_str(&d.text), "if (x) {\n    f()\n}");
    editor_begin(&d);
    (void)type(&d, "\033[200~if (x) {\r      }\033[201~"); /* a paste stays as it is */
    CHECK_STR(buf_str(&d.text), "if (x) {\n      }");
}

static void test_history_is_walked_and_the_unfinished_text_comes_back(void)
{
    scoped(editor) d = new_editor("python");
    struct err e;
    CHECK_INT(editor_remember(&d, "one", &e), 0);
    CHECK_INT(editor_remember(&d, "two\n2", &e), 0);
    CHECK_INT(editor_remember(&d, "two\n2", &e), 0); /* not twice */
    CHECK_INT(d.n_history, 2);
    editor_begin(&d);
    (void)type(&d, "new\033[A");
    CHECK_STR(buf_str(&d.text), "two\n2");
    (void)type(&d, "\033[A\033[A");
    CHECK_STR(buf_str(&d.text), "one");
    (void)type(&d, "\033[B\033[B");
    CHECK_STR(buf_str(&d.text), "new");
    for (int i = 0; i < EDITOR_HISTORY_MAX + 10; i++)
        CHECK_INT(editor_remember(&d, i % 2 ? "a" : "b", &e), 0);
    CHECK_INT(d.n_history, EDITOR_HISTORY_MAX);
}

static void test_long_lines_are_broken_and_the_cursor_is_found(void)
{
    scoped(editor) d = new_editor("python");
    scoped(buf) out = { 0 };
    struct err e;
    d.columns = 24;
    for (int i = 0; i < 25; i++)
        (void)type(&d, "\346\227\245"); /* two columns each */
    CHECK_INT(editor_draw(&d, false, &out, &e), 0);
    CHECK_INT(d.shown_row, 2);
    (void)type(&d, "\001");
    CHECK_INT(editor_draw(&d, false, &out, &e), 0);
    CHECK_INT(d.shown_row, 0);
    CHECK(strstr(buf_str(&out), "\033[35m") == NULL);
}

static void test_bytes_of_a_paste_cannot_control_the_terminal(void)
{
    scoped(editor) d = new_editor("python");
    scoped(buf) out = { 0 };
    struct err e;
    (void)type(&d, "\033[200~a\007b\302\233c\033[201~");
    CHECK_INT(editor_draw(&d, false, &out, &e), 0);
    CHECK(!strchr(buf_str(&out), '\007') && !strstr(buf_str(&out), "\302\233"));
}

static void test_terminals_that_show_images_are_known_by_their_answer(void)
{
    static const struct {
        const char *bytes, *typed;
        bool complete;
        enum image_protocol protocol;
    } rows[] = {
        { "\033P>|kitty(0.26.5)\033\\\033[?62;c", "", true, IMAGES_KITTY },
        { "a\033P>|ghostty 1.0\033\\b\033[?62c\003", "ab\003", true, IMAGES_KITTY },
        { "\033P>|iTerm2 3.5\033\\\033[?62;4c", "", true, IMAGES_ITERM },
        { "\033P>|WezTerm 1\033\\\033[?65;4;6c", "", true, IMAGES_ITERM },
        { "\033P>|XTerm(370)\033\\\033[?64;1c", "", true, IMAGES_NONE },
        { "\033P>|XTerm(370)\033\\\033[?63;1;2;4;6c", "", true, IMAGES_SIXEL },
        { "x\033[?62;4;22cy", "xy", true, IMAGES_SIXEL },
        { "\033[?62;22;44c", "", true, IMAGES_NONE },
        { "\033[?1;4c", "", true, IMAGES_NONE },
        { "\033[?4c", "", true, IMAGES_NONE },
        { "\033[?6c", "", true, IMAGES_NONE },
        { "\033P>|kitty(0", "\033P>|kitty(0", false, IMAGES_NONE },
        { "typed", "typed", false, IMAGES_NONE },
        { "", "", false, IMAGES_NONE },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(buf) bytes = { 0 };
        struct err e;
        enum image_protocol p;
        CHECK_INT(buf_add(&bytes, rows[i].bytes, strlen(rows[i].bytes), &e), 0);
        CHECK_INT(images_answered(&bytes, &p), rows[i].complete);
        CHECK_INT(p, rows[i].protocol);
        CHECK_INT(bytes.len, strlen(rows[i].typed));
        CHECK(memcmp(buf_str(&bytes), rows[i].typed, bytes.len) == 0);
    }
}

static void test_pixels_become_sixels(void)
{
    unsigned char rgb[2 * 7 * 3];
    scoped(buf) out = { 0 };
    struct err e;
    memset(rgb, 255, sizeof rgb);
    memset(rgb + 3, 0, 3); /* the pixel at the right of the first row */
    CHECK_INT(sixel_encode(&(struct raster){ 2, 7, rgb }, &out, &e), 0);
    CHECK_STR(buf_str(&out),
              "\033P0;1;0q\"1;1;2;7#0;2;100;100;100#1;2;0;0;0#0~}$#1?@$-#0@@$-\033\\");
    CHECK_INT(sixel_encode(&(struct raster){ 0, 7, rgb }, &out, &e), -1);
}

static void test_large_and_colourful_images_are_reduced(void)
{
    enum { WIDTH = 3001, HEIGHT = 41 };
    struct raster r = { WIDTH, HEIGHT, malloc((size_t)WIDTH * HEIGHT * 3) };
    scoped(buf) small = { 0 }, colourful = { 0 };
    struct err e;
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * 3; i++)
        r.rgb[i] = (unsigned char)(i * i * 31 >> 7);
    CHECK_INT(sixel_encode(&r, &small, &e), 0);
    CHECK(strstr(buf_str(&small), "\"1;1;751;11#0;"));
    r.width = SIXEL_SIDE_MAX;
    CHECK_INT(sixel_encode(&r, &colourful, &e), 0);
    CHECK(strstr(buf_str(&colourful), "\"1;1;1000;41#0;"));
    CHECK(strstr(buf_str(&colourful), "#255;2;") && !strstr(buf_str(&colourful), "#256"));
    raster_done(&r);
}

static const struct check_test tests[] = {
    TEST(test_code_goes_on_until_it_can_be_complete),
    TEST(test_keys_edit_text_in_utf8),
    TEST(test_enter_ends_a_complete_text),
    TEST(test_two_empty_lines_leave_a_bracket_that_is_not_closed),
    TEST(test_closing_brackets_end_the_indentation),
    TEST(test_history_is_walked_and_the_unfinished_text_comes_back),
    TEST(test_long_lines_are_broken_and_the_cursor_is_found),
    TEST(test_bytes_of_a_paste_cannot_control_the_terminal),
    TEST(test_terminals_that_show_images_are_known_by_their_answer),
    TEST(test_pixels_become_sixels),
    TEST(test_large_and_colourful_images_are_reduced),
};
CHECK_MAIN(tests)
