/* The values that a program told: they are bounded, at lines that the diagnosis names, and without
 * secrets, for any text of the program. */
#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "diagnose/core/diagnose.h"
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

static const struct check_test tests[] = {
    TEST(test_values_are_those_of_the_lines_that_the_error_names),
    TEST(test_a_secret_that_was_told_is_not_kept),
    TEST(test_values_that_are_none_tell_nothing),
    TEST(test_values_have_bounds),
    TEST(test_values_survive_the_wire),
};
CHECK_MAIN(tests)
