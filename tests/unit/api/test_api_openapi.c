#include "api/meta/openapi.h"

#include "base/array.h"
#include "base/auto.h"
#include "check.h"

static const char *const colours[] = { "red", "green", NULL };
static const struct api_field inner[] = {
    { .name = "x", .type = FIELD_INT, .required = true, .min = 1, .max = 9, .help = "an x" },
    { .name = "unseen", .type = FIELD_BOOL },
    { 0 },
};
static const struct api_field body[] = {
    { .name = "string", .type = FIELD_STRING, .required = true, .min = 2, .max = 5 },
    { .name = "data", .type = FIELD_DATA },
    { .name = "colour", .type = FIELD_STRING, .one_of = colours },
    { .name = "bool", .type = FIELD_BOOL },
    { .name = "int", .type = FIELD_INT, .min = 0, .max = 7 },
    { .name = "number", .type = FIELD_NUMBER, .min = 0.5, .max = 1 },
    { .name = "strings", .type = FIELD_STRINGS, .max = 2, .one_of = colours },
    { .name = "map", .type = FIELD_STRING_MAP, .max = 2 },
    { .name = "object", .type = FIELD_OBJECT, .fields = inner },
    { .name = "objects",
      .type = FIELD_OBJECTS,
      .fields = inner,
      .max = 3,
      .hidden = "unseen,other" },
    { .name = "limits", .type = FIELD_LIMITS, .help = "what it may use" },
    { .name = "files", .type = FIELD_FILES },
    { .name = "any", .type = FIELD_ANY },
    { 0 },
};
static const struct api_field query[] = {
    { .name = "limit", .type = FIELD_INT, .min = 1, .max = 1000, .help = "how many" },
    { 0 },
};
static const struct api_field part[] = {
    { .name = "number", .type = FIELD_INT, ALWAYS },
    { .schema = "Part" },
};
static const struct api_field answer[] = {
    { .name = "colour", .type = FIELD_STRING, ALWAYS, .one_of = colours },
    { .name = "name", .type = FIELD_STRING, OR_NULL },
    { .name = "part", .type = FIELD_OBJECT, .fields = part },
    { .name = "limits", .type = FIELD_LIMIT_VALUES },
    { .schema = "Answer", .help = "an answer" },
};
static const struct api_field event[] = {
    { .name = "seq", .type = FIELD_INT },
    { .schema = "Event", .fields = answer },
};
static const struct api_route routes[] = {
    { .method = METHOD_GET, .path = "/v1/health", .scope = SCOPE_NONE, .summary = "health" },
    { .method = METHOD_POST,
      .path = "/v1/runs",
      .scope = SCOPE_RUN,
      .body = body,
      .replies = REPLIES({ 200, .fields = answer, .help = "it is over" }, EVENT_REPLIES(event),
                         { 201, .fields = part, .list = true }, { 201, .fields = answer },
                         { .status = 204 }) },
    { .method = METHOD_GET, .path = "/v1/runs", .scope = SCOPE_READ, .query = query },
    { .method = METHOD_GET, .path = "/v1/runs/{id}/files/{name...}", .scope = SCOPE_ANY },
    { .method = METHOD_POST,
      .path = "/api/x",
      .scope = SCOPE_RUN,
      .style = STYLE_DETAIL,
      .body = inner,
      .flags = ROUTE_LENIENT | ROUTE_BODY_OPTIONAL },
    { .method = METHOD_GET, .path = "/execute", .scope = SCOPE_RUN, .style = STYLE_NEMO },
    { 0 },
};

static json_t *document(void)
{
    struct limits defaults = limits_default(), max = limits_default();
    struct err e = { 0 };
    scoped(buf) text = { 0 };
    const struct api_route *const tables[] = { routes, NULL };
    if (!CHECK_INT(openapi_build(tables, &defaults, &max, &text, &e), 0))
        return NULL;
    return json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
}

/* The value at a path such as "paths|/v1/runs|post", or NULL. */
static json_t *at(json_t *v, const char *path)
{
    while (v && *path) {
        char key[64];
        size_t n = strcspn(path, "|");
        (void)snprintf(key, sizeof key, "%.*s", (int)n, path);
        v = json_is_array(v) ? json_array_get(v, (size_t)(key[0] - '0')) : json_object_get(v, key);
        path += n + (path[n] == '|');
    }
    return v;
}

static const char *text_at(json_t *v, const char *path)
{
    return json_string_value(at(v, path));
}

static void test_every_route_is_in_the_document_but_hidden_ones(void)
{
    json_auto_t *d = document();
    CHECK_STR(text_at(d, "openapi"), "3.1.0");
    CHECK(text_at(d, "info|version") != NULL);
    CHECK_INT(json_object_size(at(d, "paths")), 5);
    CHECK_INT(json_object_size(at(d, "paths|/v1/runs")), 2);
    CHECK_STR(text_at(d, "paths|/v1/health|get|summary"), "health");
    CHECK_STR(text_at(d, "paths|/v1/runs/{id}/files/{name}|get|operationId"),
              "get_v1_runs_id_files_name");
}

static void test_parameters_are_those_of_path_and_query(void)
{
    json_auto_t *d = document();
    json_t *params = at(d, "paths|/v1/runs/{id}/files/{name}|get|parameters");
    CHECK_INT(json_array_size(params), 2);
    CHECK_STR(text_at(params, "0|name"), "id");
    CHECK_STR(text_at(params, "1|name"), "name");
    CHECK_STR(text_at(params, "1|in"), "path");
    json_t *limit = at(d, "paths|/v1/runs|get|parameters|0");
    CHECK_STR(text_at(limit, "name"), "limit");
    CHECK_STR(text_at(limit, "description"), "how many");
    CHECK_INT(json_integer_value(at(limit, "schema|maximum")), 1000);
}

static void test_every_field_has_a_schema(void)
{
    static const char schema_at[] =
        "paths|/v1/runs|post|requestBody|content|application/json|schema";
    json_auto_t *d = document();
    json_t *schema = at(d, schema_at);
    for (const struct api_field *f = body; f->name; f++)
        if (!CHECK(json_is_object(json_object_get(at(schema, "properties"), f->name))))
            printf("    %s\n", f->name);
    CHECK_INT(json_object_size(at(schema, "properties")), ARRAY_LEN(body) - 1);
    CHECK_STR(text_at(schema, "required|0"), "string");
    CHECK(json_is_false(at(schema, "additionalProperties")));
    CHECK_INT(json_integer_value(at(schema, "properties|string|minLength")), 2);
    CHECK_INT(json_integer_value(at(schema, "properties|string|maxLength")), 5);
    CHECK_STR(text_at(schema, "properties|colour|enum|1"), "green");
    CHECK_STR(text_at(schema, "properties|strings|items|enum|0"), "red");
    CHECK(json_is_integer(at(schema, "properties|int|minimum")));
    CHECK(json_real_value(at(schema, "properties|number|minimum")) == 0.5);
    CHECK_STR(text_at(schema, "properties|object|properties|x|description"), "an x");
    CHECK_STR(text_at(schema, "properties|objects|items|required|0"), "x");
    CHECK_INT(json_object_size(at(schema, "properties|object|properties")), 2);
    CHECK_INT(json_object_size(at(schema, "properties|objects|items|properties")), 1);
    CHECK_STR(text_at(schema, "properties|limits|$ref"), "#/components/schemas/Limits");
    CHECK_STR(text_at(schema, "properties|limits|description"), "what it may use");
}

static void test_what_is_referred_to_is_there(void)
{
    static const char *const names[] = { "Error", "Detail", "ExecuteResult", "Limits", "Files" };
    json_auto_t *d = document();
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!CHECK(json_is_object(json_object_get(at(d, "components|schemas"), names[i]))))
            printf("    %s\n", names[i]);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        json_t *row = json_object_get(at(d, "components|schemas|Limits|properties"),
                                      limit_defs[i].key);
        CHECK_INT(json_integer_value(at(row, "minimum")), limit_defs[i].min);
        CHECK_INT(json_integer_value(at(row, "maximum")), limit_defs[i].def); /* as handed in */
    }
    CHECK_STR(text_at(d, "components|schemas|Files|oneOf|1|items|properties|executable|type"),
              "boolean");
    CHECK_STR(text_at(d, "components|schemas|Files|oneOf|1|items|properties|encoding|enum|1"),
              "base64");
}

/* Every "$ref" in a value, at any depth. */
static void check_references(json_t *document, json_t *v)
{
    static const char prefix[] = "#/components/schemas/";
    const char *key;
    json_t *item;
    size_t i;
    json_object_foreach(v, key, item) {
        const char *to = strcmp(key, "$ref") == 0 ? json_string_value(item) : NULL;
        if (to &&
            !CHECK(strncmp(to, prefix, sizeof prefix - 1) == 0 &&
                   json_object_get(at(document, "components|schemas"), to + sizeof prefix - 1)))
            printf("    %s\n", to);
        check_references(document, item);
    }
    json_array_foreach(v, i, item)
        check_references(document, item);
}

static void test_answers_are_described_by_status_and_type(void)
{
    json_auto_t *d = document();
    json_t *responses = at(d, "paths|/v1/runs|post|responses");
    CHECK_STR(text_at(responses, "200|content|application/json|schema|$ref"),
              "#/components/schemas/Answer");
    CHECK_STR(text_at(responses, "200|description"), "it is over");
    CHECK_STR(text_at(responses, "200|content|text/event-stream|schema|$ref"),
              "#/components/schemas/Event");
    CHECK_STR(text_at(responses, "201|content|application/json|schema|anyOf|0|items|$ref"),
              "#/components/schemas/Part");
    CHECK_STR(text_at(responses, "201|content|application/json|schema|anyOf|1|$ref"),
              "#/components/schemas/Answer");
    CHECK(at(responses, "204|description") != NULL && at(responses, "204|content") == NULL);
    CHECK_STR(text_at(d, "paths|/api/x|post|responses|2XX|description"), "success");
    check_references(d, d);
}

static void test_the_last_row_of_a_table_names_its_schema(void)
{
    json_auto_t *d = document();
    json_t *schema = at(d, "components|schemas|Answer");
    CHECK_STR(text_at(schema, "description"), "an answer");
    CHECK_STR(text_at(schema, "properties|colour|enum|0"), "red");
    CHECK_STR(text_at(schema, "properties|part|$ref"), "#/components/schemas/Part");
    CHECK_STR(text_at(schema, "properties|name|anyOf|1|type"), "null");
    CHECK_STR(text_at(schema, "properties|limits|$ref"), "#/components/schemas/LimitValues");
    CHECK_INT(json_array_size(at(schema, "required")), 2);
    CHECK(at(schema, "additionalProperties") == NULL); /* an answer may grow */
    /* Event has the rows of Answer as well, none of them required. */
    CHECK_INT(json_object_size(at(d, "components|schemas|Event|properties")), 5);
    CHECK(at(d, "components|schemas|Event|required") == NULL);
    CHECK(at(d, "components|schemas|Part|properties|number") != NULL);
}

static void test_scope_and_error_of_a_route_are_told(void)
{
    static const char error_at[] = "responses|default|content|application/json|schema|$ref";
    json_auto_t *d = document();
    CHECK_STR(text_at(d, "paths|/v1/runs|post|x-scope"), "run");
    CHECK_STR(text_at(d, "paths|/v1/runs|post|security|0|bearer|0"), "run");
    CHECK_INT(json_array_size(at(d, "paths|/v1/health|get|security")), 0);
    json_t *any = at(d, "paths|/v1/runs/{id}/files/{name}|get|security|0|bearer");
    CHECK(json_is_array(any) && json_array_size(any) == 0);
    CHECK_STR(text_at(d, "components|securitySchemes|bearer|scheme"), "bearer");
    CHECK_STR(text_at(at(d, "paths|/v1/runs|post"), error_at), "#/components/schemas/Error");
    CHECK_STR(text_at(at(d, "paths|/api/x|post"), error_at), "#/components/schemas/Detail");
    CHECK(json_is_false(at(d, "paths|/api/x|post|requestBody|required")));
}

static const struct check_test tests[] = {
    TEST(test_every_route_is_in_the_document_but_hidden_ones),
    TEST(test_parameters_are_those_of_path_and_query),
    TEST(test_every_field_has_a_schema),
    TEST(test_what_is_referred_to_is_there),
    TEST(test_answers_are_described_by_status_and_type),
    TEST(test_the_last_row_of_a_table_names_its_schema),
    TEST(test_scope_and_error_of_a_route_are_told),
};
CHECK_MAIN(tests)
