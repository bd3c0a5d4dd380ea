#include "api/kernel/json_in.h"

#include <stdbool.h>
#include <string.h>

#include "api/kernel/fields.h"

/* jansson accepts 2048 levels, and each level is a stack frame there and in every later walk of the
 * tree. It does not bound the number of values. A value takes a hundred times the memory of its
 * "{},", and all other requests wait until it is parsed. */
int json_in_bounds(const char *bytes, size_t n, struct err *e)
{
    unsigned depth = 0, line = 1;
    size_t line_start = 0, values = 1;
    bool in_string = false;
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{' || c == ',') {
            if (++values > JSON_VALUES_MAX)
                return err_set(e, ERR_BAD_REQUEST, 0,
                               "the body has more than %d values: split the request",
                               JSON_VALUES_MAX);
            if (c != ',' && ++depth > JSON_DEPTH_MAX)
                return err_set(e, ERR_BAD_REQUEST, 0,
                               "the body is nested deeper than %d levels (line %u, column %zu)",
                               JSON_DEPTH_MAX, line, i - line_start + 1);
        } else if (c == ']' || c == '}') {
            depth -= depth > 0;
        } else if (c == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    return 0;
}

static bool is_blank(const char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && (bytes[i] == ' ' || (bytes[i] >= '\t' && bytes[i] <= '\r')))
        i++;
    return i == n;
}

/* jansson quotes the input. Control characters become '?': they could harm a terminal or a log. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7F)
            *text = '?';
}

/* The text of jansson ends with: near '"the key"'. A long key is missing there. */
static int given_twice(json_error_t *why, struct err *e)
{
    char *key = strstr(why->text, "'\""), *end = key ? strrchr(key + 2, '"') : NULL;
    make_plain(why->text);
    if (!end)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "a field is given twice: line %d, column %d; remove one of them", why->line,
                       why->column);
    *end = '\0';
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "the field '%s' is given twice: line %d, column %d; remove one of them", key + 2,
                   why->line, why->column);
}

int json_in_parse(const char *bytes, size_t n, json_t **ret, struct err *e)
{
    json_error_t why;
    if (is_blank(bytes, n))
        return err_set(e, ERR_BAD_REQUEST, 0, "the body is empty; a JSON object is expected");
    if (json_in_bounds(bytes, n, e))
        return -1;
    json_t *parsed = json_loadb(bytes, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL,
                                &why);
    if (!parsed && json_error_code(&why) == json_error_out_of_memory)
        return err_no_memory(e, "the body");
    if (!parsed && json_error_code(&why) == json_error_duplicate_key)
        return given_twice(&why, e);
    if (!parsed) {
        make_plain(why.text);
        return err_set(e, ERR_BAD_REQUEST, 0, "the body is not JSON: line %d, column %d: %s",
                       why.line, why.column, why.text);
    }
    *ret = parsed;
    return 0;
}

int json_in_object(const char *bytes, size_t n, json_t **ret, struct err *e)
{
    json_t *parsed = NULL;
    char shown[120];
    if (json_in_parse(bytes, n, &parsed, e))
        return -1;
    if (!json_is_object(parsed)) {
        (void)err_set(e, ERR_BAD_REQUEST, 0, "the body must be a JSON object, not %s",
                      json_describe(parsed, shown, sizeof shown));
        json_decref(parsed);
        return -1;
    }
    *ret = parsed;
    return 0;
}
