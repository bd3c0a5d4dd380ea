/* The values that a program told: they are bounded, at lines that the diagnosis names, and without
 * secrets, for any text of the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/grammar.h"
#include "run/diagnosis_json.h"

static struct diagnosis d;

#define ERROR                                                                             \
    "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 9, in <module>\n" \
    "    f(x)\n  File \"/sandbox/a.py\", line 2, in f\n    a + b\nTypeError: no\n"
#define FRAME  "Values\nF\t2\tf\t/sandbox/a.py\n"
#define CALLER "F\t9\t<module>\t/sandbox/a.py\n"

static void told(const char *text, size_t len)
{
    struct diagnoser *g = NULL;
    struct err e;
    const struct evidence ev = { .exit_code = 1 };
    const struct source_file file = { "a.py", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", 18 };
    if (!CHECK(diagnoser_new(&g, &e) == 0))
        return;
    const struct diagnose_input in = { .language = "python",
                                       .grammar = "python",
                                       .text = ERROR,
                                       .len = sizeof ERROR - 1,
                                       .main_name = "a.py",
                                       .sources = &file,
                                       .n_sources = 1,
                                       .evidence = &ev,
                                       .verdict = VERDICT_RUNTIME_ERROR,
                                       .whereabouts = text,
                                       .whereabouts_len = len };
    CHECK(diagnose(g, &in, &d));
    CHECK_INT(d.location.line, 2);
    diagnoser_free(g);
}
#define TOLD(text) told((text), sizeof(text) - 1)

static void test_values_are_those_of_the_lines_that_the_error_names(void)
{
    TOLD(FRAME "V\ta\tlist\t3\t\t\tc\t[1,\t2]\nV\tm\tnumpy.ndarray\t12\t3 4\tint64\t\t\n" CALLER
               "V\tx\tint\t\t\t\t\t7\nF\t5\tg\t/sandbox/a.py\nV\tother\tint\t\t\t\t\t1\n");
    CHECK_INT(d.n_values, 3);
    CHECK_STR(d.values[0].name, "a");
    CHECK_STR(d.values[0].preview, "[1,\t2]");
    CHECK(d.values[0].sized && d.values[0].size == 3 && d.values[0].cut);
    CHECK_STR(d.values[0].at.file, "a.py");
    CHECK_STR(d.values[1].dtype, "int64");
    CHECK(d.values[1].n_shape == 2 && d.values[1].shape[1] == 4);
    CHECK(d.values[2].at.line == 9 && !d.values[2].sized);
    CHECK_STR(d.values[2].function, "<module>");
}

static void test_a_secret_that_was_told_is_not_kept(void)
{
    TOLD(FRAME "V\tapi_key\tstr\t4\t\t\tc\thush\nV\tok\tstr\t4\t\t\tm\thush\n");
    CHECK_INT(d.n_values, 2);
    for (size_t i = 0; i < 2; i++)
        CHECK(d.values[i].masked && d.values[i].preview[0] == '\0' && !d.values[i].cut);
}

static void test_values_that_are_none_tell_nothing(void)
{
    static const char *const texts[] = {
        "",
        "Values",
        "Values\nV\ta\tint\t\t\t\t\t1\n",
        "Values \nF\t2\tf\t/sandbox/a.py\nV\ta\tint\t\t\t\t\t1\n",
        FRAME "V\ta\tint\t\t\t\t1\n",
        FRAME "V\t\tint\t\t\t\t\t1\n",
        "Values\nF\t2\tf\t/etc/passwd\nV\ta\tint\t\t\t\t\t1\n",
        "Values\nF\t2\tf\nV\ta\tint\t\t\t\t\t1\n",
        "Values\nF\t-2\tf\t/sandbox/a.py\nV\ta\tint\t\t\t\t\t1\n",
        "At\nF\t2\tf\t/sandbox/a.py\nV\ta\tint\t\t\t\t\t1\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        told(texts[i], strlen(texts[i]));
        CHECK_INT(d.n_values, 0);
    }
}

static void test_values_have_bounds(void)
{
    enum { LINES = 9000, LONG = 50000 };
    static const char line[] = "V\tn\tt\t18446744073709551616\t1 -2\t\t\t";
    autofree char *text = malloc(sizeof FRAME + LINES * sizeof line + (size_t)3 * LONG + 64);
    if (!CHECK(text != NULL))
        return;
    size_t n = sizeof FRAME - 1;
    memcpy(text, FRAME, n);
    memcpy(text + n, "V\t", 2);
    memset(text + n + 2, 'n', LONG);
    text[n += LONG] = '\t';
    memset(text + n + 1, 't', LONG);
    n += LONG + 1;
    memcpy(text + n, "\t\t\t\t\t", 5);
    memset(text + n + 5, '\xc3', LONG);
    n += LONG + 5;
    text[n++] = '\n';
    for (int i = 0; i < LINES; i++, n += sizeof line)
        memcpy(text + n, line, sizeof line), text[n + sizeof line - 1] = '\n';
    told(text, n);
    CHECK_INT(d.n_values, DIAGNOSE_VALUES);
    CHECK(strlen(d.values[0].name) > 0 && strlen(d.values[0].name) < sizeof d.values[0].name);
    CHECK(!d.values[1].sized && d.values[1].n_shape == 0);
}

static void test_values_survive_the_wire(void)
{
    static struct diagnosis again;
    scoped(buf) out = { 0 };
    struct err e;
    TOLD(FRAME "V\ta\tlist\t3\t\t\tc\t\x1b[31m[1]\nV\tm\tt\t12\t3 4\tint64\t\t\n" CALLER
               "V\ttoken\tstr\t9\t\t\t\tx\n");
    json_t *json = diagnosis_json(&d);
    json_t *values = json_object_get(json, "values");
    CHECK(json_is_false(json_object_get(values, "trusted")));
    CHECK_INT(json_array_size(json_object_get(values, "frames")), 2);
    if (CHECK(diagnosis_from_json(json, &again)) && CHECK_INT(again.n_values, 3)) {
        CHECK(again.values[1].shape[0] == 3 && again.values[0].size == 3 && again.values[0].cut);
        CHECK(again.values[2].masked && again.values[2].at.line == 9);
        CHECK_INT(diagnosis_text(&again, false, 0, &out, &e), 0);
        CHECK(strstr(buf_str(&out), "values: as the program told them\n"
                                    "      a  list of 3  [31m[1]\n"
                                    "      m  t of 12 3 x 4 int64\n"));
        CHECK(!strstr(buf_str(&out), "token"));
    }
    json_decref(json);
}

/* The advice for an error of this source, whose line 2 failed with these values. */
static const char *advice_for(const char *source, const char *error, const char *values)
{
    static struct diagnosis found;
    struct diagnoser *g = NULL;
    struct err e;
    char text[400], told_text[600];
    const struct evidence ev = { .exit_code = 1 };
    const struct source_file file = { "a.py", source, strlen(source) };
    (void)snprintf(
        text, sizeof text,
        "Traceback (most recent call last):\n  File \"/sandbox/a.py\", line 2, in <module>\n"
        "    x\n%s\n",
        error);
    (void)snprintf(told_text, sizeof told_text, "Values\nF\t2\t<module>\t/sandbox/a.py\n%s",
                   values);
    if (!CHECK(diagnoser_new(&g, &e) == 0))
        return "";
    const struct diagnose_input in = { .language = "python",
                                       .grammar = "python",
                                       .text = text,
                                       .len = strlen(text),
                                       .main_name = "a.py",
                                       .sources = &file,
                                       .n_sources = 1,
                                       .evidence = &ev,
                                       .verdict = VERDICT_RUNTIME_ERROR,
                                       .whereabouts = told_text,
                                       .whereabouts_len = strlen(told_text) };
    CHECK(diagnose(g, &in, &found));
    CHECK(match_broken(g) == NULL);
    diagnoser_free(g);
    return found.n_suggestions ? found.suggestions[0].text : "";
}

static void test_values_decide_between_causes(void)
{
    static const struct {
        const char *source, *error, *values, *advice;
    } rows[] = {
        { "row = f()\nprint(row['name'])\n", "KeyError: 'name'",
          "V\trow\tdict\t1\t\t\t\t{'Name': 1}\n", "capital letters" },
        { "row = f()\nprint(row['name'])\n", "KeyError: 'name'",
          "V\trow\tdict\t1\t\t\t\t{' name': 1}\n", "blanks" },
        { "row = f()\nprint(row['name'])\n", "KeyError: 'name'",
          "V\trow\tdict\t1\t\t\t\t{'\xef\xbb\xbfname': 1}\n", "utf-8-sig" },
        { "for row in csv.DictReader(f):\n    print(row['name'])\n", "KeyError: 'name'",
          "V\trow\tdict\t1\t\t\t\t{'id;name': '1;a'}\n", "delimiter=\";\"" },
        { "row = f()\nprint(row['name'])\n", "KeyError: 'name'",
          "V\trow\tdict\t1\t\t\t\t{'user': {'name': 1}}\n", "row['user']['name']" },
        { "row = f()\nprint(row['name'])\n", "KeyError: 'name'",
          "V\trow\tdict\t2\t\t\t\t{'a': 1, 'b': 2}\n", "has the keys 'a', 'b'" },
        { "d = f()\nprint(d[1])\n", "KeyError: 1", "V\td\tdict\t1\t\t\t\t{'1': 'a'}\n",
          "are texts, such as '1'" },
        { "d = f()\nprint(d['1'])\n", "KeyError: '1'", "V\td\tdict\t1\t\t\t\t{1: 'a'}\n",
          "are numbers, such as 1" },
        { "d = f()\nprint(d[0])\n", "KeyError: 0", "V\td\tdict\t1\t\t\t\t{'a': 1}\n",
          "has no positions" },
        { "x = f()\nprint(x[i])\n", "IndexError: list index out of range",
          "V\tx\tlist\t3\t\t\t\t[1, 2, 3]\nV\ti\tint\t\t\t\t\t3\n",
          "has 3 items here, at the positions 0 to 2, and i is 3" },
        { "x = f()\nprint(x[0])\n", "IndexError: list index out of range",
          "V\tx\tlist\t0\t\t\t\t[]\n", "'x' is empty here" },
        { "parts = line.split(',')\nprint(parts[1])\n", "IndexError: list index out of range",
          "V\tparts\tlist\t1\t\t\t\t['a;b']\n", "the text has no ','" },
        { "n = f()\nprint(n > 3)\n",
          "TypeError: '>' not supported between instances of 'str' and 'int'",
          "V\tn\tstr\t1\t\t\t\t'5'\n", "int(n)" },
        { "n = f()\nrange(n)\n", "TypeError: 'float' object cannot be interpreted as an integer",
          "V\tn\tfloat\t\t\t\t\t2.5\n", "'n' is the float 2.5" },
        { "d = f()\nfor k, v in d: pass\n",
          "ValueError: not enough values to unpack (expected 2, got 1)",
          "V\td\tdict\t1\t\t\t\t{'a': 1}\n", ".items()" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *advice = advice_for(rows[i].source, rows[i].error, rows[i].values);
        if (!CHECK(strstr(advice, rows[i].advice)))
            (void)fprintf(stderr, "%s: %s\n", rows[i].values, advice);
        advice = advice_for(rows[i].source, rows[i].error, ""); /* as before, and no worse */
        CHECK(advice[0] != '\0');
    }
}

static void test_items_of_a_preview(void)
{
    struct shown_items s = { .rest = piece_of("{'a': [1, (2, 3)], 'b, c': 'x\\', y', 4: {}, …}") };
    struct piece text;
    CHECK(next_shown(&s) && piece_is(s.key, "'a'") && piece_is(s.item, "[1, (2, 3)]"));
    CHECK(next_shown(&s) && piece_is(s.key, "'b, c'") && piece_is(s.item, "'x\\', y'"));
    CHECK(!shown_text(s.item, &text) && shown_text(s.key, &text) && piece_is(text, "b, c"));
    CHECK(next_shown(&s) && piece_is(s.key, "4") && piece_is(s.item, "{}"));
    CHECK(!next_shown(&s) && !next_shown(&s));
    static const char *const none[] = { "",  "[",   "{",   "[]",  "{}", "()",
                                        "5", "'a'", "['a", "[…]", "]",  "{'a': " };
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        s = (struct shown_items){ .rest = piece_of(none[i]) };
        CHECK(!next_shown(&s));
    }
}

static const struct check_test tests[] = {
    TEST(test_values_are_those_of_the_lines_that_the_error_names),
    TEST(test_a_secret_that_was_told_is_not_kept),
    TEST(test_values_that_are_none_tell_nothing),
    TEST(test_values_have_bounds),
    TEST(test_values_survive_the_wire),
    TEST(test_values_decide_between_causes),
    TEST(test_items_of_a_preview),
};
CHECK_MAIN(tests)
