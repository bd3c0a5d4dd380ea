#include "api/meta/openapi.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "api/kernel/reply.h"
#include "base/auto.h"
#include "config.h"
#include "run/json.h"
#include "spec/bundle.h"

static json_t *type_of(const char *name)
{
    return json_pack("{s:s}", "type", name);
}

static json_t *reference(const char *schema)
{
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", schema));
}

struct document {
    json_t *schemas; /* components/schemas so far */
    bool closed;     /* an unknown field is an error; not so in answers, which may grow */
};

static json_t *table_schema(struct document *d, const struct api_field *fields,
                            const struct api_field *holder);

/* Bounds are doubles in the table; whole numbers are written without a fraction. */
static json_t *number(double n)
{
    return n == (double)(json_int_t)n ? json_integer((json_int_t)n) : json_real(n);
}

static void put_bounds(json_t *schema, const struct api_field *f, const char *least,
                       const char *most)
{
    if (f->min != 0 || (f->max != 0 && (f->type == FIELD_INT || f->type == FIELD_NUMBER)))
        json_put(schema, least, number(f->min));
    if (f->max != 0)
        json_put(schema, most, number(f->max));
}

static void put_enum(json_t *schema, const struct api_field *f)
{
    json_t *words = json_array();
    for (const char *const *w = f->one_of; w && *w; w++)
        (void)json_array_append_new(words, json_string(*w));
    if (f->one_of)
        json_put(schema, "enum", words);
    else
        json_decref(words);
}

static json_t *string_schema(struct document *d, const struct api_field *f)
{
    (void)d;
    json_t *schema = type_of("string");
    put_bounds(schema, f, "minLength", "maxLength");
    put_enum(schema, f);
    return schema;
}

static json_t *bool_schema(struct document *d, const struct api_field *f)
{
    (void)d;
    (void)f;
    return type_of("boolean");
}

static json_t *number_schema(struct document *d, const struct api_field *f)
{
    (void)d;
    json_t *schema = type_of(f->type == FIELD_INT ? "integer" : "number");
    put_bounds(schema, f, "minimum", "maximum");
    return schema;
}

static json_t *strings_schema(struct document *d, const struct api_field *f)
{
    (void)d;
    json_t *schema = type_of("array");
    json_t *items = type_of("string");
    put_enum(items, f);
    json_put(schema, "items", items);
    put_bounds(schema, f, "minItems", "maxItems");
    return schema;
}

static json_t *map_schema(struct document *d, const struct api_field *f)
{
    (void)d;
    json_t *schema = type_of("object");
    json_put(schema, "additionalProperties", type_of("string"));
    put_bounds(schema, f, "minProperties", "maxProperties");
    return schema;
}

static json_t *nested_schema(struct document *d, const struct api_field *f)
{
    return table_schema(d, f->fields, f);
}

static json_t *objects_schema(struct document *d, const struct api_field *f)
{
    json_t *schema = type_of("array");
    json_put(schema, "items", table_schema(d, f->fields, f));
    put_bounds(schema, f, "minItems", "maxItems");
    return schema;
}

static json_t *limits_reference(struct document *d, const struct api_field *f)
{
    (void)d;
    return reference(f->type == FIELD_LIMITS ? "Limits" : "LimitValues");
}

static json_t *files_reference(struct document *d, const struct api_field *f)
{
    (void)d;
    (void)f;
    return reference("Files");
}

static json_t *network_schema(struct document *d, const struct api_field *f)
{
    json_t *word = type_of("string");
    put_enum(word, f);
    return json_pack("{s:[o, o]}", "anyOf", word, table_schema(d, f->fields, f));
}

static json_t *any_schema(struct document *d, const struct api_field *f)
{
    if (f->fields) /* the description names this schema */
        json_decref(table_schema(d, f->fields, f));
    return json_object();
}

static json_t *(*const by_type[])(struct document *d, const struct api_field *f) = {
    [FIELD_STRING] = string_schema,   [FIELD_DATA] = string_schema,
    [FIELD_BOOL] = bool_schema,       [FIELD_INT] = number_schema,
    [FIELD_NUMBER] = number_schema,   [FIELD_STRINGS] = strings_schema,
    [FIELD_STRING_MAP] = map_schema,  [FIELD_OBJECT] = nested_schema,
    [FIELD_OBJECTS] = objects_schema, [FIELD_LIMITS] = limits_reference,
    [FIELD_FILES] = files_reference,  [FIELD_LIMIT_VALUES] = limits_reference,
    [FIELD_ANY] = any_schema,         [FIELD_NETWORK] = network_schema,
};

static json_t *field_schema(struct document *d, const struct api_field *f)
{
    json_t *schema = by_type[f->type](d, f);
    if (f->nullable && f->type != FIELD_ANY)
        schema = json_pack("{s:[o, o]}", "anyOf", schema, type_of("null"));
    if (f->help)
        json_put(schema, "description", json_string(f->help));
    return schema;
}

static json_t *fields_schema(struct document *d, const struct api_field *fields,
                             const struct api_field *holder)
{
    json_t *schema = type_of("object");
    json_t *properties = json_object(), *required = json_array();
    for (; fields->name; fields++) {
        if (field_is_hidden(holder, fields->name))
            continue;
        json_put(properties, fields->name, field_schema(d, fields));
        if (fields->required)
            (void)json_array_append_new(required, json_string(fields->name));
    }
    json_put(schema, "properties", properties);
    if (json_array_size(required) > 0)
        json_put(schema, "required", required);
    else
        json_decref(required);
    if (d->closed)
        json_put(schema, "additionalProperties", json_false());
    return schema;
}

/* Adds the schema that the last row of the table names, unless the document has it. */
static void add_named_schema(struct document *d, const struct api_field *fields,
                             const struct api_field *last)
{
    if (json_object_get(d->schemas, last->schema))
        return;
    json_t *schema = fields_schema(d, fields, NULL);
    json_t *properties = json_object_get(schema, "properties");
    for (const struct api_field *f = last->fields; f && f->name; f++)
        if (!json_object_get(properties, f->name))
            json_put(properties, f->name, field_schema(d, f));
    if (last->help)
        json_put(schema, "description", json_string(last->help));
    json_put(d->schemas, last->schema, schema);
}

/* A reference, if the table names its schema. */
static json_t *table_schema(struct document *d, const struct api_field *fields,
                            const struct api_field *holder)
{
    const struct api_field *last = fields;
    while (last->name)
        last++;
    if (!last->schema)
        return fields_schema(d, fields, holder);
    add_named_schema(d, fields, last);
    return reference(last->schema);
}

json_t *openapi_fields(const struct api_field *fields, bool closed)
{
    struct document d = { .schemas = json_object(), .closed = closed };
    json_t *schema = fields_schema(&d, fields, NULL);
    json_decref(d.schemas);
    return schema;
}

/* ---- schemas that no table has ---- */
static json_t *limits_schema(const struct limits *defaults, const struct limits *max)
{
    static const char *const units[] = { [UNIT_COUNT] = "",
                                         [UNIT_BYTES] = "; bytes, or text such as \"64m\"",
                                         [UNIT_MS] = "; milliseconds, or text such as \"2s\"" };
    json_t *schema = type_of("object"), *properties = json_object();
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_def *d = &limit_defs[i];
        json_put(properties, d->key,
                 json_pack("{s:[s,s], s:I, s:I, s:I, s:o}", "type", "integer", "string", "minimum",
                           (json_int_t)d->min, "maximum", (json_int_t)max->v[i], "default",
                           (json_int_t)defaults->v[i], "description",
                           json_sprintf("%s%s", d->help, units[d->unit])));
    }
    json_put(schema, "properties", properties);
    json_put(schema, "additionalProperties", json_false());
    return schema;
}

/* The form of limits in a result. */
static json_t *limit_values_schema(void)
{
    json_t *schema = type_of("object"), *properties = json_object(), *required = json_array();
    for (int i = 0; i < LIMIT_COUNT; i++) {
        json_put(properties, limit_defs[i].key,
                 json_pack("{s:s, s:s}", "type", "integer", "description", limit_defs[i].help));
        (void)json_array_append_new(required, json_string(limit_defs[i].key));
    }
    json_put(schema, "properties", properties);
    json_put(schema, "required", required);
    return schema;
}

static json_t *file_schema(bool named)
{
    json_t *schema = json_pack(
        "{s:s, s:{s:{s:s}, s:{s:s, s:[s,s], s:s}, s:{s:s}, s:{s:s}}, s:[s], s:b}", "type", "object",
        "properties", "content", "type", "string", "encoding", "type", "string", "enum", "utf-8",
        "base64", "default", "utf-8", "executable", "type", "boolean", "run_only", "type",
        "boolean", "required", "content", "additionalProperties", 0);
    if (!named)
        return schema;
    json_put(json_object_get(schema, "properties"), "name",
             json_pack("{s:s, s:i, s:i}", "type", "string", "minLength", 1, "maxLength",
                       BUNDLE_NAME_MAX));
    (void)json_array_append_new(json_object_get(schema, "required"), json_string("name"));
    return schema;
}

static json_t *files_schema(void)
{
    return json_pack("{s:[{s:s, s:{s:[{s:s}, o]}, s:i}, {s:s, s:o, s:i}]}", "oneOf", "type",
                     "object", "additionalProperties", "oneOf", "type", "string",
                     file_schema(false), "maxProperties", BUNDLE_FILES_MAX, "type", "array",
                     "items", file_schema(true), "maxItems", BUNDLE_FILES_MAX);
}

static json_t *security_schemes(void)
{
    return json_pack("{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}}", "bearer", "type", "http", "scheme",
                     "bearer", "description",
                     "an API key, blj_...; not needed over the unix socket, nor on loopback while "
                     "there are no keys",
                     "header", "type", "apiKey", "in", "header", "name", "X-API-Key");
}

/* ---- routes ---- */
static void add_path_params(json_t *list, const char *path)
{
    const char *p = path;
    while ((p = strchr(p, '{')) != NULL) {
        size_t n = strcspn(++p, ".}");
        (void)json_array_append_new(list,
                                    json_pack("{s:s%, s:s, s:b, s:o}", "name", p, n, "in", "path",
                                              "required", 1, "schema", type_of("string")));
    }
}

static void add_query_params(struct document *d, json_t *list, const struct api_field *f)
{
    for (; f && f->name; f++) {
        json_t *param = json_pack("{s:s, s:s, s:b, s:o}", "name", f->name, "in", "query",
                                  "required", f->required, "schema", by_type[f->type](d, f));
        if (f->help)
            json_put(param, "description", json_string(f->help));
        (void)json_array_append_new(list, param);
    }
}

/* "get_v1_runs_id_files" */
static json_t *operation_id(const struct api_route *r)
{
    char id[160];
    size_t used = 0;
    const char *texts[] = { http_method_name(r->method), r->path };
    for (int i = 0; i < 2; i++) {
        bool gap = i > 0;
        for (const char *p = texts[i]; *p && used + 10 < sizeof id; p++) {
            if (!isalnum((unsigned char)*p)) {
                gap = true;
                continue;
            }
            if (gap && used > 0)
                id[used++] = '_';
            gap = false;
            id[used++] = (char)tolower((unsigned char)*p);
        }
    }
    size_t n = strlen(r->path);
    bool folder = n > 1 && r->path[n - 1] == '/'; /* "/a" and "/a/" are two operations */
    (void)snprintf(id + used, sizeof id - used, "%s", folder ? "_folder" : "");
    return json_string(id);
}

static json_t *json_content(json_t *schema)
{
    return json_pack("{s:{s:o}}", "application/json", "schema", schema);
}

static void add_security(json_t *operation, const struct api_route *r)
{
    if (r->scope == SCOPE_NONE) {
        json_put(operation, "security", json_array());
        return;
    }
    if (r->scope == SCOPE_ANY) { /* a key with scope `run` alone sees only its own runs */
        json_put(operation, "security", json_pack("[{s:[]}, {s:[]}]", "bearer", "header"));
        return;
    }
    const char *word = scope_word((enum scope)r->scope);
    json_put(operation, "security",
             json_pack("[{s:[s]}, {s:[s]}]", "bearer", word, "header", word));
    json_put(operation, "x-scope", json_string(word));
}

/* Answers with the same status and type are alternatives. */
static void add_content(json_t *content, const char *type, json_t *schema)
{
    json_t *before = json_object_get(json_object_get(content, type), "schema");
    if (!before)
        json_put(content, type, json_pack("{s:o}", "schema", schema));
    else if (json_object_get(before, "anyOf"))
        (void)json_array_append_new(json_object_get(before, "anyOf"), schema);
    else
        json_put(content, type, json_pack("{s:{s:[O, o]}}", "schema", "anyOf", before, schema));
}

static json_t *reply_schema(struct document *d, const struct route_reply *reply)
{
    if (!reply->fields)
        return type_of("string");
    json_t *schema = table_schema(d, reply->fields, NULL);
    return reply->list ? json_pack("{s:s, s:o}", "type", "array", "items", schema) : schema;
}

static void add_reply(struct document *d, json_t *responses, const struct route_reply *reply)
{
    char status[16];
    (void)snprintf(status, sizeof status, "%d", reply->status);
    if (!json_object_get(responses, status))
        json_put(responses, status,
                 json_pack("{s:s}", "description", reply->help ? reply->help : "success"));
    if (!reply->fields && !reply->content_type)
        return;
    json_t *response = json_object_get(responses, status);
    if (!json_object_get(response, "content"))
        json_put(response, "content", json_object());
    add_content(json_object_get(response, "content"),
                reply->content_type ? reply->content_type : "application/json",
                reply_schema(d, reply));
}

static json_t *responses_of(struct document *d, const struct api_route *r)
{
    json_t *responses = json_object();
    d->closed = false;
    for (const struct route_reply *reply = r->replies; reply && reply->status; reply++)
        add_reply(d, responses, reply);
    if (json_object_size(responses) == 0)
        json_put(responses, "2XX", json_pack("{s:s}", "description", "success"));
    json_put(responses, "default",
             json_pack("{s:s, s:o}", "description",
                       "an error; the message names the reason and the accepted values", "content",
                       json_content(table_schema(d, error_replies[r->style], NULL))));
    return responses;
}

static json_t *operation_of(struct document *d, const struct api_route *r)
{
    json_t *operation = json_object(), *params = json_array();
    json_put(operation, "operationId", operation_id(r));
    if (r->summary)
        json_put(operation, "summary", json_string(r->summary));
    d->closed = !(r->flags & ROUTE_LENIENT);
    add_path_params(params, r->path);
    add_query_params(d, params, r->query);
    if (json_array_size(params) > 0)
        json_put(operation, "parameters", params);
    else
        json_decref(params);
    if (r->body)
        json_put(operation, "requestBody",
                 json_pack("{s:b, s:o}", "required", !(r->flags & ROUTE_BODY_OPTIONAL), "content",
                           json_content(table_schema(d, r->body, NULL))));
    json_put(operation, "responses", responses_of(d, r));
    add_security(operation, r);
    return operation;
}

/* "/v1/runs/{id}/files/{name...}" -> "/v1/runs/{id}/files/{name}" */
static void add_route(struct document *d, json_t *paths, const struct api_route *r)
{
    char path[256], method[16];
    size_t used = 0;
    for (const char *p = r->path; *p && used + 1 < sizeof path; p++)
        if (strncmp(p, "...", 3) == 0)
            p += 2;
        else
            path[used++] = *p;
    path[used] = '\0';
    for (used = 0; http_method_name(r->method)[used] != '\0' && used + 1 < sizeof method; used++)
        method[used] = (char)tolower((unsigned char)http_method_name(r->method)[used]);
    method[used] = '\0';
    if (!json_object_get(paths, path))
        json_put(paths, path, json_object());
    json_put(json_object_get(paths, path), method, operation_of(d, r));
}

int openapi_build(const struct api_route *const *tables, const struct limits *limit_default,
                  const struct limits *limit_max, struct buf *ret, struct err *e)
{
    struct document d = { .schemas = json_object() };
    json_t *paths = json_object();
    for (; *tables; tables++)
        for (const struct api_route *r = *tables; r->path; r++)
            add_route(&d, paths, r);
    json_put(d.schemas, "LimitValues", limit_values_schema());
    json_put(d.schemas, "Limits", limits_schema(limit_default, limit_max));
    json_put(d.schemas, "Files", files_schema());
    json_auto_t *document = json_pack(
        "{s:s, s:{s:s, s:s, s:s}, s:o, s:{s:o, s:o}}", "openapi", "3.1.0", "info", "title",
        "Belljar", "version", BELLJAR_VERSION, "description", "Runs untrusted code in sealed jars.",
        "paths", paths, "components", "schemas", d.schemas, "securitySchemes", security_schemes());
    autofree char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
    if (!text)
        return err_no_memory(e, "the OpenAPI document");
    return buf_addf(ret, e, "%s\n", text);
}
