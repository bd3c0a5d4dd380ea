/* Validation of a body against its table of fields (API-1). */
#include "api/kernel/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"

enum { DEPTH_OF_TABLES = 8 }; /* of tables; json_in.c bounds bodies */

size_t field_path_push(struct field_path *p, const char *name)
{
    size_t before = strlen(p->text);
    (void)snprintf(p->text + before, sizeof p->text - before, "%s%s",
                   before > 0 && name[0] != '[' ? "." : "", QUOTED(name));
    return before;
}

size_t field_path_push_index(struct field_path *p, size_t index)
{
    size_t before = strlen(p->text);
    (void)snprintf(p->text + before, sizeof p->text - before, "[%zu]", index);
    return before;
}

void field_path_pop(struct field_path *p, size_t before)
{
    p->text[before] = '\0';
}

const char *json_describe(const json_t *v, char *out, size_t size)
{
    switch (json_typeof(v)) {
    case JSON_STRING:
        (void)snprintf(out, size, "the text '%s'", QUOTED(json_string_value(v)));
        return out;
    case JSON_INTEGER:
        (void)snprintf(out, size, "the number %" JSON_INTEGER_FORMAT, json_integer_value(v));
        return out;
    case JSON_REAL:
        (void)snprintf(out, size, "the number %.17g", json_real_value(v));
        return out;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        return "null";
    case JSON_ARRAY:
        return "a list";
    case JSON_OBJECT:
        return "an object";
    }
    return "something else";
}

/* ---- names ---- */
const char *nearest_name(const char *name, const char *(*name_at)(const void *context, size_t i),
                         const void *context)
{
    struct nearest best = { .wanted = name };
    const char *candidate;
    size_t found = 0;
    for (size_t i = 0; (candidate = name_at(context, i)) != NULL; i++) {
        size_t distance = best.name[0] ? best.distance : SIZE_MAX;
        nearest_offer(&best, candidate);
        if (best.name[0] && best.distance < distance)
            found = i;
    }
    return best.name[0] ? name_at(context, found) : NULL;
}

const char *names_listed(const char *(*name_at)(const void *context, size_t i), const void *context,
                         char *out, size_t size)
{
    static const char more[] = ", …";
    size_t used = 0;
    const char *name;
    out[0] = '\0';
    for (size_t i = 0; (name = name_at(context, i)) != NULL; i++) {
        size_t need = strlen(name) + (i > 0 ? 2 : 0);
        size_t spare = name_at(context, i + 1) ? sizeof more : 1;
        if (used + need + spare > size) {
            (void)snprintf(out + used, size - used, "%s", i > 0 ? more : "");
            break;
        }
        (void)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", name);
        used += need;
    }
    return out;
}

/* Finds the word in "lang,lang_id" or "timeout=limits.wall_ms,...": *ret_to and *ret_n are the text
 * after its '=', which may be empty. False: the list has no such word. */
static bool list_find(const char *list, const char *word, const char **ret_to, size_t *ret_n)
{
    size_t len = strlen(word);
    while (list && *list) {
        size_t all = strcspn(list, ","), name = strcspn(list, ",=");
        if (len > 0 && name == len && strncmp(list, word, len) == 0) {
            *ret_to = list + name + (list[name] == '=');
            *ret_n = all - (size_t)(*ret_to - list);
            return true;
        }
        list += all + (list[all] == ',');
    }
    return false;
}

bool field_is_hidden(const struct api_field *holder, const char *name)
{
    const char *to;
    size_t n;
    return holder && list_find(holder->hidden, name, &to, &n);
}

/* A table of fields, and the field that has it as `fields`, or NULL. */
struct offered {
    const struct api_field *fields, *holder;
};

static const char *field_at(const void *context, size_t i)
{
    const struct offered *o = context;
    for (const struct api_field *f = o->fields; f->name; f++)
        if (!field_is_hidden(o->holder, f->name) && i-- == 0)
            return f->name;
    return NULL;
}

const struct api_field *field_find(const struct api_field *fields, const char *name)
{
    for (; fields->name; fields++)
        if (strcmp(fields->name, name) == 0)
            return fields;
    return NULL;
}

/* The error for a field that has another name or place here. False: the field is not such a one. */
static bool known_elsewhere(const struct offered *o, const char *name,
                            const struct field_path *path, struct err *e)
{
    const char *to;
    size_t n;
    if (o->holder && list_find(o->holder->elsewhere, name, &to, &n)) {
        (void)err_set(e, ERR_BAD_REQUEST, 0, "there is no field '%s' here; it belongs to '%.*s'",
                      path->text, (int)n, to);
        return true;
    }
    for (const struct api_field *f = o->fields; f->name; f++) {
        if (!list_find(f->also, name, &to, &n))
            continue;
        (void)err_set(e, ERR_BAD_REQUEST, 0, "there is no field '%s'; its name here is '%.*s'",
                      path->text, n > 0 ? (int)n : (int)strlen(f->name), n > 0 ? to : f->name);
        return true;
    }
    return false;
}

static int unknown_field(const struct offered *o, const char *name, const struct field_path *path,
                         struct err *e)
{
    char known[sizeof e->text];
    if (known_elsewhere(o, name, path, e))
        return -1;
    const char *near = nearest_name(name, field_at, o);
    if (near)
        return err_set(e, ERR_BAD_REQUEST, 0, "there is no field '%s'; did you mean '%s'?",
                       path->text, near);
    if (!o->fields->name)
        return err_set(e, ERR_BAD_REQUEST, 0, "there is no field '%s'; none is accepted here",
                       path->text);
    (void)err_set(e, ERR_BAD_REQUEST, 0, "there is no field '%s'; accepted: ", path->text);
    size_t room = sizeof e->text - strlen(e->text);
    return err_set(e, ERR_BAD_REQUEST, 0, "there is no field '%s'; accepted: %s", path->text,
                   names_listed(field_at, o, known, room));
}

/* ---- values, by type ---- */
struct validation {
    struct field_path path;
    bool lenient;
    int depth;
};
typedef int value_check(struct validation *c, const struct api_field *f, const json_t *v,
                        struct err *e);

static int object_check(struct validation *c, const struct api_field *fields,
                        const struct api_field *holder, const json_t *object, struct err *e);

static int must_be(const struct validation *c, const char *type, const json_t *v, struct err *e)
{
    char described[120];
    return err_set(e, ERR_BAD_REQUEST, 0, "%s must be %s, not %s", c->path.text, type,
                   json_describe(v, described, sizeof described));
}

static bool bounded(const struct api_field *f)
{
    return f->min != 0 || f->max != 0;
}

static const char *word_at(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

static int one_of_check(struct validation *c, const struct api_field *f, const json_t *v,
                        struct err *e)
{
    char quoted[96], words[160];
    for (const char *const *w = f->one_of; *w; w++)
        if (strcmp(*w, json_string_value(v)) == 0)
            return 0;
    (void)names_listed(word_at, f->one_of, words, sizeof words);
    return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' is not one of: %s", c->path.text,
                   text_quote(json_string_value(v), quoted, sizeof quoted), words);
}

static int data_check(struct validation *c, const struct api_field *f, const json_t *v,
                      struct err *e)
{
    if (!json_is_string(v))
        return must_be(c, "text", v, e);
    double n = (double)json_string_length(v);
    if (!bounded(f) || (n >= f->min && (f->max == 0 || n <= f->max)))
        return 0;
    if (n < f->min)
        return n == 0
                   ? err_set(e, ERR_BAD_REQUEST, 0, "%s must not be empty", c->path.text)
                   : err_set(e, ERR_BAD_REQUEST, 0, "%s has %.0f bytes; at least %.0f are needed",
                             c->path.text, n, f->min);
    return err_set(e, ERR_BAD_REQUEST, 0, "%s has %.0f bytes; up to %.0f are accepted",
                   c->path.text, n, f->max);
}

static int string_check(struct validation *c, const struct api_field *f, const json_t *v,
                        struct err *e)
{
    if (data_check(c, f, v, e))
        return -1;
    if (strlen(json_string_value(v)) != json_string_length(v))
        return err_set(e, ERR_BAD_REQUEST, 0, "%s must not contain a NUL (\\u0000)", c->path.text);
    return f->one_of ? one_of_check(c, f, v, e) : 0;
}

static int bool_check(struct validation *c, const struct api_field *f, const json_t *v,
                      struct err *e)
{
    char wanted[200];
    if (json_is_boolean(v))
        return 0;
    /* A word: the caller believes that there are more than two answers. */
    bool word = json_is_string(v) && f->help;
    (void)snprintf(wanted, sizeof wanted, "true or false%s%s%s", word ? " (" : "",
                   word ? f->help : "", word ? ")" : "");
    return must_be(c, wanted, v, e);
}

static int number_bounds(struct validation *c, const struct api_field *f, const json_t *v,
                         struct err *e)
{
    double n = json_number_value(v);
    if (!bounded(f) || (n >= f->min && n <= f->max))
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "%s %.15g is out of bounds: from %.15g to %.15g is accepted", c->path.text, n,
                   f->min, f->max);
}

static int int_check(struct validation *c, const struct api_field *f, const json_t *v,
                     struct err *e)
{
    if (!json_is_integer(v))
        return must_be(c, "a whole number", v, e);
    return number_bounds(c, f, v, e);
}

static int number_check(struct validation *c, const struct api_field *f, const json_t *v,
                        struct err *e)
{
    if (!json_is_number(v) || !isfinite(json_number_value(v)))
        return must_be(c, "a number", v, e);
    return number_bounds(c, f, v, e);
}

static int count_check(struct validation *c, const struct api_field *f, size_t n, struct err *e)
{
    if (f->max != 0 && (double)n > f->max)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s has %zu entries; up to %.0f are accepted",
                       c->path.text, n, f->max);
    if ((double)n < f->min)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s has %zu entries; at least %.0f are needed",
                       c->path.text, n, f->min);
    return 0;
}

static int strings_check(struct validation *c, const struct api_field *f, const json_t *v,
                         struct err *e)
{
    const struct api_field each = { .type = FIELD_STRING, .one_of = f->one_of };
    size_t i;
    json_t *item;
    if (!json_is_array(v))
        return must_be(c, "a list of texts", v, e);
    if (count_check(c, f, json_array_size(v), e))
        return -1;
    json_array_foreach(v, i, item) {
        size_t before = field_path_push_index(&c->path, i);
        if (string_check(c, &each, item, e))
            return -1;
        field_path_pop(&c->path, before);
    }
    return 0;
}

static int map_check(struct validation *c, const struct api_field *f, const json_t *v,
                     struct err *e)
{
    const struct api_field each = { .type = FIELD_STRING };
    const char *key;
    json_t *item;
    if (!json_is_object(v))
        return must_be(c, "an object of texts", v, e);
    if (count_check(c, f, json_object_size(v), e))
        return -1;
    json_object_foreach((json_t *)v, key, item) /* jansson's macro takes no const */
    {
        size_t before = field_path_push(&c->path, key);
        if (string_check(c, &each, item, e))
            return -1;
        field_path_pop(&c->path, before);
    }
    return 0;
}

static int nested_check(struct validation *c, const struct api_field *f, const json_t *v,
                        struct err *e)
{
    if (!json_is_object(v))
        return must_be(c, "an object", v, e);
    return object_check(c, f->fields, f, v, e);
}

static int list_check(struct validation *c, const struct api_field *f, const json_t *v,
                      struct err *e)
{
    size_t i;
    json_t *item;
    if (!json_is_array(v))
        return must_be(c, "a list of objects", v, e);
    if (count_check(c, f, json_array_size(v), e))
        return -1;
    json_array_foreach(v, i, item) {
        size_t before = field_path_push_index(&c->path, i);
        if (nested_check(c, f, item, e))
            return -1;
        field_path_pop(&c->path, before);
    }
    return 0;
}

static int limits_check_json(struct validation *c, const struct api_field *f, const json_t *v,
                             struct err *e)
{
    const char *key;
    json_t *item;
    (void)f;
    if (!json_is_object(v))
        return must_be(c, "an object such as {\"memory\": \"64m\"}", v, e);
    json_object_foreach((json_t *)v, key, item) /* jansson's macro takes no const */
    {
        enum limit_id id;
        uint64_t value;
        size_t before = field_path_push(&c->path, key);
        if (limit_find(key, c->path.text, &id, e))
            return -1;
        if (!json_is_null(item) &&
            limit_from_json(&limit_defs[id], item, NULL, c->path.text, &value, e))
            return -1;
        field_path_pop(&c->path, before);
    }
    return 0;
}

static int files_check(struct validation *c, const struct api_field *f, const json_t *v,
                       struct err *e)
{
    (void)f;
    return files_validate(v, c->lenient, &c->path, e);
}

static int network_check(struct validation *c, const struct api_field *f, const json_t *v,
                         struct err *e)
{
    if (json_is_string(v))
        return string_check(c, f, v, e);
    if (!json_is_object(v))
        return must_be(c, "\"none\", \"full\" or an object such as {\"allow\": [\"pypi.org\"]}", v,
                       e);
    return object_check(c, f->fields, f, v, e);
}

static int limit_values_check(struct validation *c, const struct api_field *f, const json_t *v,
                              struct err *e)
{
    const struct api_field each = { .type = FIELD_INT };
    (void)f;
    if (!json_is_object(v) || json_object_size(v) != LIMIT_COUNT)
        return must_be(c, "an object of every limit", v, e);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const json_t *value = json_object_get(v, limit_defs[i].key);
        size_t before = field_path_push(&c->path, limit_defs[i].key);
        if (!value)
            return err_set(e, ERR_BAD_REQUEST, 0, "%s is missing", c->path.text);
        if (int_check(c, &each, value, e))
            return -1;
        field_path_pop(&c->path, before);
    }
    return 0;
}

static int any_check(struct validation *c, const struct api_field *f, const json_t *v,
                     struct err *e)
{
    (void)c;
    (void)f;
    (void)v;
    (void)e;
    return 0;
}

static value_check *const checks[] = {
    [FIELD_STRING] = string_check,  [FIELD_DATA] = data_check,
    [FIELD_BOOL] = bool_check,      [FIELD_INT] = int_check,
    [FIELD_NUMBER] = number_check,  [FIELD_STRINGS] = strings_check,
    [FIELD_STRING_MAP] = map_check, [FIELD_OBJECT] = nested_check,
    [FIELD_OBJECTS] = list_check,   [FIELD_LIMITS] = limits_check_json,
    [FIELD_FILES] = files_check,    [FIELD_LIMIT_VALUES] = limit_values_check,
    [FIELD_ANY] = any_check,        [FIELD_NETWORK] = network_check,
};

/* "decision is required: approve, edit or reject" */
static int is_missing(const struct validation *c, const struct api_field *f, struct err *e)
{
    char words[160] = "";
    for (size_t i = 0; f->one_of && f->one_of[i]; i++) {
        size_t used = strlen(words);
        (void)snprintf(words + used, sizeof words - used, "%s%s",
                       i == 0             ? ""
                       : f->one_of[i + 1] ? ", "
                                          : " or ",
                       f->one_of[i]);
    }
    const char *hint = f->one_of ? words : f->help;
    return err_set(e, ERR_BAD_REQUEST, 0, "%s is required%s%s", c->path.text, hint ? ": " : "",
                   hint ? hint : "");
}

static int known_fields_check(struct validation *c, const struct api_field *fields,
                              const json_t *object, struct err *e)
{
    for (const struct api_field *f = fields; f->name; f++) {
        const json_t *v = json_object_get(object, f->name);
        size_t before = field_path_push(&c->path, f->name);
        if (f->required && (!v || (json_is_null(v) && f->type != FIELD_ANY && !f->nullable)))
            return is_missing(c, f, e);
        if (v && !json_is_null(v) && checks[f->type](c, f, v, e))
            return -1;
        field_path_pop(&c->path, before);
    }
    return 0;
}

static int object_check(struct validation *c, const struct api_field *fields,
                        const struct api_field *holder, const json_t *object, struct err *e)
{
    const struct offered offered = { fields, holder };
    const char *key;
    json_t *v;
    if (++c->depth > DEPTH_OF_TABLES)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s is nested too deeply: up to %d objects inside each other are accepted",
                       c->path.text, DEPTH_OF_TABLES);
    /* A misspelt field is reported before a missing one, because it is usually the reason. */
    json_object_foreach((json_t *)object, key, v) /* jansson's macro takes no const */
    {
        size_t before = field_path_push(&c->path, key);
        if (!c->lenient && !field_find(fields, key))
            return unknown_field(&offered, key, &c->path, e);
        field_path_pop(&c->path, before);
    }
    if (known_fields_check(c, fields, object, e))
        return -1;
    c->depth--;
    return 0;
}

int api_validate(const json_t *object, const struct api_field *fields, bool lenient,
                 char *ret_field, size_t field_size, struct err *e)
{
    struct validation c = { .lenient = lenient };
    char described[120];
    ret_field[0] = '\0';
    if (!json_is_object(object))
        return err_set(e, ERR_BAD_REQUEST, 0, "a JSON object is expected, not %s",
                       object ? json_describe(object, described, sizeof described) : "nothing");
    if (!object_check(&c, fields, NULL, object, e))
        return 0;
    (void)snprintf(ret_field, field_size, "%s", c.path.text);
    return -1;
}

void api_drop_nulls(json_t *object, const struct api_field *fields)
{
    for (const struct api_field *f = fields; f->name; f++) {
        json_t *v = json_object_get(object, f->name);
        size_t i;
        json_t *item;
        if (json_is_null(v) && f->type != FIELD_ANY)
            (void)json_object_del(object, f->name);
        else if (v && f->type == FIELD_OBJECT)
            api_drop_nulls(v, f->fields);
        else if (v && f->type == FIELD_OBJECTS)
            json_array_foreach(v, i, item)
                api_drop_nulls(item, f->fields);
    }
}
