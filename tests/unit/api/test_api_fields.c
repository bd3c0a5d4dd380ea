#include "api/kernel/api.h"
#include "api/kernel/json_in.h"
#include "base/array.h"
#include "base/auto.h"
#include "check.h"

static const char *const colours[] = { "red", "green", NULL };
static const struct api_field inner[] = {
    { .name = "x", .type = FIELD_INT, .required = true, .min = 1, .max = 9 },
    { .name = "note", .type = FIELD_STRING },
    { 0 },
};
static const struct api_field choice[] = {
    { .name = "colour", .type = FIELD_STRING, .required = true, .one_of = colours, .help = "?" },
    { .name = "size", .type = FIELD_INT, .required = true, .help = "how large it is" },
    { 0 },
};
static const struct api_field fields[] = {
    { .name = "code", .type = FIELD_DATA, .max = 20, .also = "source,script" },
    { .name = "name", .type = FIELD_STRING, .min = 2, .max = 5 },
    { .name = "colour", .type = FIELD_STRING, .one_of = colours },
    { .name = "picture_encoding", .type = FIELD_STRING },
    { .name = "wait", .type = FIELD_BOOL },
    { .name = "count", .type = FIELD_INT, .min = -3, .max = 7 },
    { .name = "ratio", .type = FIELD_NUMBER, .min = 0, .max = 1 },
    { .name = "args", .type = FIELD_STRINGS, .max = 2 },
    { .name = "env", .type = FIELD_STRING_MAP, .max = 2 },
    { .name = "one", .type = FIELD_OBJECT, .fields = inner },
    { .name = "many",
      .type = FIELD_OBJECTS,
      .fields = inner,
      .max = 3,
      .hidden = "other,note",
      .elsewhere = "expected=inputs" },
    { .name = "choice", .type = FIELD_OBJECT, .fields = choice },
    { .name = "limits", .type = FIELD_LIMITS, .also = "memory=limits.memory,time=limits.wall_ms" },
    { .name = "files", .type = FIELD_FILES },
    { .name = "metadata", .type = FIELD_ANY },
    { 0 },
};

static json_t *parse(const char *text)
{
    struct err e = { 0 };
    json_t *v = NULL;
    if (!CHECK_INT(json_in_parse(text, strlen(text), &v, &e), 0))
        printf("    %s: %s\n", text, e.text);
    return v;
}

struct row {
    const char *body, *field, *says; /* field NULL: it is accepted */
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct err e = { 0 };
        char field[128];
        json_auto_t *v = parse(rows[i].body);
        int failed = api_validate(v, fields, false, field, sizeof field, &e);
        if (!rows[i].field) {
            if (!CHECK_INT(failed, 0))
                printf("    %s: %s\n", rows[i].body, e.text);
            continue;
        }
        if (!CHECK_INT(failed, -1) || !CHECK_STR(field, rows[i].field) ||
            !CHECK(strstr(e.text, rows[i].says) != NULL))
            printf("    %s: %s\n", rows[i].body, e.text);
        CHECK_INT(e.code, ERR_BAD_REQUEST);
    }
}
#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

static void test_values_are_of_their_type_and_within_bounds(void)
{
    static const struct row rows[] = {
        { "{}", NULL, NULL },
        { "{\"code\":\"a\\u0000b\",\"name\":\"ab\",\"wait\":true,\"count\":-3}", NULL, NULL },
        { "{\"code\":\"123456789012345678901\"}", "code", "21 bytes; up to 20" },
        { "{\"code\":5}", "code", "must be text, not the number 5" },
        { "{\"name\":\"a\"}", "name", "at least 2" },
        { "{\"name\":\"\"}", "name", "must not be empty" },
        { "{\"name\":\"a\\u0000b\"}", "name", "NUL" },
        { "{\"colour\":\"green\"}", NULL, NULL },
        { "{\"colour\":\"blue\"}", "colour", "'blue' is not one of: red, green" },
        { "{\"colour\":\"red\\u0000\"}", "colour", "NUL" },
        { "{\"wait\":1}", "wait", "true or false, not the number 1" },
        { "{\"wait\":\"true\"}", "wait", "not the text 'true'" },
        { "{\"count\":8}", "count", "count 8 is out of bounds: from -3 to 7" },
        { "{\"count\":2.0}", "count", "whole number" },
        { "{\"count\":true}", "count", "not true" },
        { "{\"ratio\":0.5}", NULL, NULL },
        { "{\"ratio\":1}", NULL, NULL },
        { "{\"ratio\":1e308}", "ratio", "from 0 to 1" },
        { "{\"ratio\":-0.1}", "ratio", "from 0 to 1" },
        { "{\"wait\":null,\"name\":null,\"metadata\":null}", NULL, NULL },
        { "{\"metadata\":[1,{\"a\":null}]}", NULL, NULL },
    };
    CHECK_ROWS(rows);
}

static void test_nested_fields_are_named_by_their_path(void)
{
    static const struct row rows[] = {
        { "{\"args\":[\"a\",\"b\"]}", NULL, NULL },
        { "{\"args\":[\"a\",\"b\",\"c\"]}", "args", "up to 2" },
        { "{\"args\":[\"a\",7]}", "args[1]", "must be text" },
        { "{\"args\":\"a\"}", "args", "a list of texts" },
        { "{\"env\":{\"A\":\"1\"}}", NULL, NULL },
        { "{\"env\":{\"A\":1}}", "env.A", "must be text" },
        { "{\"env\":[\"A=1\"]}", "env", "an object of texts" },
        { "{\"one\":{\"x\":3}}", NULL, NULL },
        { "{\"one\":{}}", "one.x", "one.x is required" },
        { "{\"one\":{\"x\":null}}", "one.x", "required" },
        { "{\"one\":[]}", "one", "an object" },
        { "{\"many\":[{\"x\":1},{\"x\":10}]}", "many[1].x", "from 1 to 9" },
        { "{\"many\":[{\"x\":1},5]}", "many[1]", "an object" },
        { "{\"many\":[{\"x\":1,\"y\":1}]}", "many[0].y", "many[0].y" },
        { "[]", "", "JSON object is expected, not a list" },
    };
    CHECK_ROWS(rows);
}

static void test_unknown_field_is_refused_naming_the_nearest(void)
{
    static const struct row rows[] = {
        { "{\"cdoe\":\"x\"}", "cdoe", "did you mean 'code'" },
        { "{\"colours\":\"red\"}", "colours", "did you mean 'colour'" },
        { "{\"zzzzzzzz\":1}", "zzzzzzzz", "accepted: code, name, colour" },
        { "{\"meta\":1}", "meta", "did you mean 'metadata'" },
        { "{\"me\":1}", "me", "accepted: code" },
        { "{\"xxxxxxx_encoding\":1}", "xxxxxxx_encoding", "accepted: code" }, /* only an ending */
        { "{\"many\":[{\"x\":1,\"nose\":1}]}", "many[0].nose", "accepted: x" },
        { "{\"many\":[{\"x\":1,\"note\":\"\"}]}", NULL, NULL }, /* accepted, not offered */
        { "{\"\":1}", "", "accepted: code" },
        { "{\"one\":{\"x\":1,\"nose\":\"\"}}", "one.nose", "did you mean 'note'" },
        { "{\"limits\":{\"memry\":1}}", "limits.memry", "did you mean 'memory'" },
    };
    struct err e = { 0 };
    char field[128];
    CHECK_ROWS(rows);
    json_auto_t *v = parse("{\"zzz\":1,\"one\":{\"x\":1,\"zz\":2}}");
    CHECK_INT(api_validate(v, fields, true, field, sizeof field, &e), 0);
}

static void test_what_others_call_a_field_leads_to_it(void)
{
    static const struct row rows[] = {
        { "{\"source\":1}", "source", "its name here is 'code'" },
        { "{\"script\":1}", "script", "there is no field 'script'; its name" },
        { "{\"memory\":1}", "memory", "its name here is 'limits.memory'" },
        { "{\"time\":1}", "time", "its name here is 'limits.wall_ms'" },
        { "{\"many\":[{\"x\":1,\"expected\":1}]}", "many[0].expected",
          "there is no field 'many[0].expected' here; it belongs to 'inputs'" },
        { "{\"limits\":{\"timeout\":1}}", "limits.timeout", "did you mean 'wall_ms'" },
        { "{\"limits\":{\"memory_mb\":1}}", "limits.memory_mb", "did you mean 'memory'" },
        { "{\"limits\":{\"wall\":1}}", "limits.wall", "did you mean 'wall_ms'" },
    };
    CHECK_ROWS(rows);
}

static void test_list_of_fields_is_cut_between_names(void)
{
    static const char name[] = "abcdefgh_abcdefgh_abcdefgh";
    struct api_field many[41] = { 0 };
    struct err e = { 0 };
    char field[128];
    for (size_t i = 0; i < 40; i++)
        many[i] = (struct api_field){ .name = name + i % 3, .type = FIELD_ANY };
    json_auto_t *v = parse("{\"zzz\":1}");
    CHECK_INT(api_validate(v, many, false, field, sizeof field, &e), -1);
    size_t n = strlen(e.text);
    CHECK(n < sizeof e.text && n > 150);
    if (!CHECK(n > 14 && strcmp(e.text + n - 14, "_abcdefgh, …") == 0))
        printf("    %s\n", e.text);
}

static void test_what_is_missing_is_named_with_what_is_accepted(void)
{
    static const struct row rows[] = {
        { "{\"choice\":{}}", "choice.colour", "choice.colour is required: red or green" },
        { "{\"choice\":{\"colour\":\"red\"}}", "choice.size", "is required: how large it is" },
    };
    CHECK_ROWS(rows);
}

static void test_names_a_stranger_chose_do_not_overrun_or_escape(void)
{
    char body[3000], field[128];
    struct err e = { 0 };
    char name[2000];
    memset(name, 'k', sizeof name);
    (void)snprintf(body, sizeof body, "{\"env\":{\"%.*s\":{\"\\u001b\":1}}}", (int)sizeof name,
                   name);
    json_auto_t *v = parse(body);
    CHECK_INT(api_validate(v, fields, false, field, sizeof field, &e), -1);
    CHECK(strlen(field) < sizeof field);
    json_auto_t *escape = parse("{\"\\u001b[2J\":1}");
    CHECK_INT(api_validate(escape, fields, false, field, sizeof field, &e), -1);
    CHECK(strchr(e.text, 27) == NULL && strchr(field, 27) == NULL);
}

static void test_files_are_a_map_or_a_list(void)
{
    static const struct row rows[] = {
        { "{\"files\":{\"a.py\":\"x\",\"d/b\":{\"content\":\"\",\"encoding\":\"base64\"}}}", NULL,
          NULL },
        { "{\"files\":[{\"name\":\"a\",\"content\":\"x\\u0000\"}]}", NULL, NULL },
        { "{\"files\":{\"../x\":\"\"}}", "files.../x", "files.../x" },
        { "{\"files\":{\"/x\":\"\"}}", "files./x", "/x" },
        { "{\"files\":{\"a\":5}}", "files.a", "not the number 5" },
        { "{\"files\":[{\"name\":\"a\",\"content\":\"\",\"executable\":true}]}", NULL, NULL },
        { "{\"files\":{\"a\":{\"content\":\"\",\"executable\":1}}}", "files.a.executable",
          "true or false" },
        { "{\"files\":{\"a\":{\"content\":\"\",\"encoding\":\"hex\"}}}", "files.a.encoding",
          "utf-8, base64" },
        { "{\"files\":{\"a\":{}}}", "files.a.content", "content is required" },
        { "{\"files\":{\"a\":{\"content\":\"\",\"mode\":1}}}", "files.a.mode", "no field" },
        { "{\"files\":[{\"content\":\"x\"}]}", "files[0].name", "required" },
        { "{\"files\":[{\"name\":\"a\",\"content\":\"\"},{\"name\":\"..\",\"content\":\"\"}]}",
          "files[1].name", "files[1].name" },
        { "{\"files\":[{\"name\":\"a\",\"content\":\"\"},{\"name\":\"a\",\"content\":\"\"}]}",
          "files[1].name", "an earlier file" },
        { "{\"files\":[\"a\"]}", "files[0]", "not the text 'a'" },
        { "{\"files\":\"a\"}", "files", "not the text 'a'" },
    };
    CHECK_ROWS(rows);
}

static void test_limits_of_a_body_are_checked_with_it(void)
{
    static const struct row rows[] = {
        { "{\"limits\":{\"memory\":\"64m\",\"wall_ms\":\"2s\",\"pids\":5,\"cpu_ms\":null}}", NULL,
          NULL },
        { "{\"limits\":{\"memory\":\"5x\"}}", "limits.memory", "not the text '5x'" },
        { "{\"limits\":[]}", "limits", "an object" },
        { "{\"limits\":{\"pids\":1e3,\"memory\":1e9,\"wall_ms\":30.0}}", NULL, NULL },
        { "{\"limits\":{\"pids\":1.5}}", "limits.pids", "a whole number, not the number 1.5" },
        { "{\"limits\":{\"wall_ms\":\"30\"}}", "limits.wall_ms",
          "and \"30\" has none: write 30 for milliseconds, or \"30s\"" },
        { "{\"limits\":{\"pids\":0}}", NULL, NULL }, /* bounds: with the settings, below */
    };
    CHECK_ROWS(rows);
}

static void test_limit_is_a_whole_number_within_the_settings(void)
{
    static const struct {
        const char *limits, *field; /* field NULL: accepted */
        enum limit_id id;
        uint64_t value;
    } rows[] = {
        { "{}", NULL, LIMIT_WALL_MS, 10000 },
        { "{\"wall_ms\":2}", NULL, LIMIT_WALL_MS, 2 },
        { "{\"wall_ms\":\"2s\"}", NULL, LIMIT_WALL_MS, 2000 },
        { "{\"wall_ms\":\"1.5s\"}", NULL, LIMIT_WALL_MS, 1500 },
        { "{\"memory\":67108864}", NULL, LIMIT_MEMORY, 67108864 },
        { "{\"memory\":\"64m\"}", NULL, LIMIT_MEMORY, 67108864 },
        { "{\"memory\":null}", NULL, LIMIT_MEMORY, 256 << 20 },
        { "{\"pids\":\"7\"}", NULL, LIMIT_PIDS, 7 },
        { "{\"pids\":100}", NULL, LIMIT_PIDS, 100 },
        { "{\"pids\":101}", "limits.pids", 0, 0 }, /* the settings' maximum */
        { "{\"pids\":0}", "limits.pids", 0, 0 },
        { "{\"pids\":-1}", "limits.pids", 0, 0 },
        { "{\"pids\":1.5}", "limits.pids", 0, 0 },
        { "{\"pids\":2.0}", NULL, LIMIT_PIDS, 2 },
        { "{\"memory\":1e9}", NULL, LIMIT_MEMORY, 1000000000 },
        { "{\"pids\":-2.0}", "limits.pids", 0, 0 },
        { "{\"pids\":1e308}", "limits.pids", 0, 0 },
        { "{\"pids\":9223372036854775807}", "limits.pids", 0, 0 },
        { "{\"pids\":true}", "limits.pids", 0, 0 },
        { "{\"pids\":[1]}", "limits.pids", 0, 0 },
        { "{\"pids\":\"NaN\"}", "limits.pids", 0, 0 },
        { "{\"pids\":\"\"}", "limits.pids", 0, 0 },
        { "{\"pids\":\"7\\u0000\"}", "limits.pids", 0, 0 },
        { "{\"wall_ms\":\"2\"}", "limits.wall_ms", 0, 0 }, /* no unit */
        { "{\"wall_ms\":\"-2s\"}", "limits.wall_ms", 0, 0 },
        { "{\"wall_ms\":0}", "limits.wall_ms", 0, 0 },
        { "{\"memory\":\"1k\"}", "limits.memory", 0, 0 },
        { "{\"time\":1}", "limits.time", 0, 0 },
        { "5", "limits", 0, 0 },
    };
    struct limits defaults = limits_default(), max;
    for (int i = 0; i < LIMIT_COUNT; i++)
        max.v[i] = limit_defs[i].max;
    max.v[LIMIT_PIDS] = 100;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = { 0 };
        struct limits got = { { 0 } };
        char field[128];
        json_auto_t *v = parse(rows[i].limits);
        int failed = api_limits(v, &defaults, &max, &got, field, sizeof field, &e);
        if (!CHECK_INT(failed, rows[i].field ? -1 : 0))
            printf("    %s: %s\n", rows[i].limits, e.text);
        if (rows[i].field) {
            CHECK_STR(field, rows[i].field);
            CHECK_INT(got.v[LIMIT_PIDS], 0); /* untouched */
        } else {
            CHECK_INT(got.v[rows[i].id], rows[i].value);
        }
    }
}

static void test_limits_are_the_defaults_when_none_are_given(void)
{
    struct limits defaults = limits_default(), max = limits_default(), got;
    struct err e = { 0 };
    char field[128];
    CHECK_INT(api_limits(NULL, &defaults, &max, &got, field, sizeof field, &e), 0);
    CHECK_INT(got.v[LIMIT_PIDS], defaults.v[LIMIT_PIDS]);
}

static void test_bounds_told_are_those_in_force_at_either_end(void)
{
    static const char *const rows[] = { "0", "101", "-1", "1e308", "1000000", "\"500\"" };
    struct limits defaults = limits_default(), max = limits_default(), got;
    max.v[LIMIT_PIDS] = 100;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = { 0 };
        char text[64], field[128];
        (void)snprintf(text, sizeof text, "{\"pids\":%s}", rows[i]);
        json_auto_t *v = parse(text);
        CHECK_INT(api_limits(v, &defaults, &max, &got, field, sizeof field, &e), -1);
        if (!CHECK(strstr(e.text, "is out of bounds: from 1 to 100 is accepted") != NULL))
            printf("    %s\n", e.text);
    }
}

static void test_nulls_are_dropped_where_they_mean_absent(void)
{
    json_auto_t *v = parse("{\"name\":null,\"metadata\":null,\"one\":{\"x\":1,\"note\":null},"
                           "\"many\":[{\"x\":1,\"note\":null}]}");
    json_auto_t *expected = parse("{\"metadata\":null,\"one\":{\"x\":1},\"many\":[{\"x\":1}]}");
    api_drop_nulls(v, fields);
    CHECK(json_equal(v, expected));
}

static void test_json_is_refused_by_line_and_column(void)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "", "empty" },
        { " \n\t", "empty" },
        { "{\"a\":1,\"a\":2}", "the field 'a' is given twice: line 1" },
        { "{\"a\":{\"b_c\":1,\n\"b_c\":2}}",
          "the field 'b_c' is given twice: line 2, column 5; remove" },
        { "{\"a_very_long_name_of_a_field\":1,\"a_very_long_name_of_a_field\":2}",
          "a field is given twice" },
        { "{\"a\":1,\n\"b\":}", "line 2" },
        { "{\"a\":\"\xFF\"}", "not JSON" },
        { "{\"a\":\"\\ud800\"}", "not JSON" },
        { "{\"a\":NaN}", "not JSON" },
        { "{\"a\":99999999999999999999}", "too big" },
        { "{} {}", "end of file expected" },
        { "{'a':1}", "column" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = { 0 };
        json_t *v = NULL;
        CHECK_INT(json_in_object(rows[i].text, strlen(rows[i].text), &v, &e), -1);
        CHECK_INT(e.code, ERR_BAD_REQUEST);
        if (!CHECK(strstr(e.text, rows[i].says) != NULL))
            printf("    %s\n", e.text);
    }
}

static void test_body_that_is_no_object_is_told_what_it_is(void)
{
    static const char *const rows[][2] = {
        { "5", "the number 5" }, { "[1]", "a list" },     { "null", "null" },
        { "true", "true" },      { "\"x\"", "text 'x'" }, { "1.5", "the number 1.5" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = { 0 };
        json_t *v = NULL;
        CHECK_INT(json_in_object(rows[i][0], strlen(rows[i][0]), &v, &e), -1);
        CHECK(strstr(e.text, rows[i][1]) != NULL);
    }
}

static void test_nesting_is_bounded_and_strings_do_not_count(void)
{
    char text[400];
    struct err e = { 0 };
    json_t *v = NULL;
    for (size_t depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        int failed = json_in_parse(text, 2 * depth, &v, &e);
        CHECK_INT(failed, depth > JSON_DEPTH_MAX ? -1 : 0);
        if (!failed)
            json_decref(v);
    }
    CHECK(strstr(e.text, "64 levels (line 1, column 65)") != NULL);
    memset(text, '[', sizeof text);
    text[0] = text[2] = text[sizeof text - 1] = '"';
    text[1] = '\\';
    CHECK_INT(json_in_parse(text, sizeof text, &v, &e), 0);
    json_decref(v);
    CHECK_INT(json_in_parse("\"\\", 2, &v, &e), -1);
}

static void test_number_of_values_is_bounded_and_strings_do_not_count(void)
{
    scoped(buf) text = { 0 };
    struct err e = { 0 };
    json_t *v = NULL;
    CHECK_INT(buf_addf(&text, &e, "[\"[,{\""), 0); /* the list and its first value */
    for (int i = 2; i < JSON_VALUES_MAX; i++)
        CHECK_INT(buf_add(&text, ",0", 2, &e), 0);
    CHECK_INT(buf_add(&text, "]", 1, &e), 0);
    CHECK_INT(json_in_parse(text.data, text.len - 2, &v, &e), -1);
    CHECK(strstr(e.text, "not JSON") != NULL);
    text.data[text.len - 1] = ',';
    CHECK_INT(buf_addf(&text, &e, "0]"), 0);
    CHECK_INT(json_in_parse(text.data, text.len, &v, &e), -1);
    CHECK(strstr(e.text, "more than 500000 values") != NULL);
}

static const struct check_test tests[] = {
    TEST(test_values_are_of_their_type_and_within_bounds),
    TEST(test_nested_fields_are_named_by_their_path),
    TEST(test_unknown_field_is_refused_naming_the_nearest),
    TEST(test_what_others_call_a_field_leads_to_it),
    TEST(test_list_of_fields_is_cut_between_names),
    TEST(test_what_is_missing_is_named_with_what_is_accepted),
    TEST(test_names_a_stranger_chose_do_not_overrun_or_escape),
    TEST(test_files_are_a_map_or_a_list),
    TEST(test_limits_of_a_body_are_checked_with_it),
    TEST(test_limit_is_a_whole_number_within_the_settings),
    TEST(test_limits_are_the_defaults_when_none_are_given),
    TEST(test_bounds_told_are_those_in_force_at_either_end),
    TEST(test_nulls_are_dropped_where_they_mean_absent),
    TEST(test_json_is_refused_by_line_and_column),
    TEST(test_body_that_is_no_object_is_told_what_it_is),
    TEST(test_nesting_is_bounded_and_strings_do_not_count),
    TEST(test_number_of_values_is_bounded_and_strings_do_not_count),
};
CHECK_MAIN(tests)
