#include "api/kernel/query_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "base/moment.h"
#include "base/text.h"

enum { VALUE_SIZE = 4096, NAME_SIZE = 64 };

/* The value as JSON of the type of its field. A value of another form stays text, which the
 * validation refuses. */
static json_t *typed(const struct api_field *f, const char *value)
{
    char *end;
    errno = 0;
    if (f && f->type == FIELD_INT) {
        long long n = strtoll(value, &end, 10);
        if (end != value && *end == '\0' && errno == 0 && value[0] != ' ' && value[0] != '+')
            return json_integer(n);
    }
    if (f && f->type == FIELD_BOOL && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0))
        return json_true();
    if (f && f->type == FIELD_BOOL && (strcmp(value, "false") == 0 || strcmp(value, "0") == 0))
        return json_false();
    return json_string(value);
}

static int add(json_t *object, const struct http_request *q, const struct api_field *fields,
               const char *name, struct err *e)
{
    char value[VALUE_SIZE], quoted[96];
    const char *got;
    if (json_object_get(object, name))
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is in the query twice: give it once",
                       text_quote(name, quoted, sizeof quoted));
    if (http_query_get(q, name, value, sizeof value, &got, e))
        return -1;
    if (!got)
        return 0;
    json_t *v = typed(field_find(fields, name), got);
    if (!v || json_object_set_new(object, name, v))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the value of '%s' in the query is not UTF-8: send percent-encoded UTF-8",
                       text_quote(name, quoted, sizeof quoted));
    return 0;
}

int query_check(const struct http_request *q, const struct api_field *fields, bool lenient,
                char *ret_field, size_t field_size, struct err *e)
{
    static const struct api_field none[] = { { 0 } };
    json_auto_t *object = json_object();
    if (!fields)
        fields = none;
    ret_field[0] = '\0';
    for (const char *p = q->query; *p;) {
        size_t n = strcspn(p, "&"), len = strcspn(p, "&=");
        char name[NAME_SIZE];
        if (len >= sizeof name)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "a name in the query has %zu bytes: up to %zu are accepted; GET "
                           "/openapi.json lists all names",
                           len, sizeof name - 1);
        (void)snprintf(name, sizeof name, "%.*s", (int)len, p);
        (void)snprintf(ret_field, field_size, "%s", name);
        /* An unknown name keeps its text, for the error. */
        if (len > 0 && field_find(fields, name)
                ? add(object, q, fields, name, e)
                : len > 0 && json_object_set_new(object, name, json_true()))
            return e->code != ERR_NONE ? -1
                                       : err_set(e, ERR_BAD_REQUEST, 0,
                                                 "the query has a name that is not UTF-8; GET "
                                                 "/openapi.json lists all names");
        p += n + (p[n] == '&');
    }
    if (json_object_size(object) == 0 && fields == none)
        return 0;
    if (api_validate(object, fields, lenient, ret_field, field_size, e))
        return err_wrap(e, "in the query");
    return 0;
}

int api_query(const struct api_call *c, const char *name, char *out, size_t size, const char **ret,
              struct err *e)
{
    if (!c->http) {
        *ret = NULL;
        return 0;
    }
    return http_query_get(&c->http->request, name, out, size, ret, e);
}

int api_query_number(const struct api_call *c, const char *name, int64_t min, int64_t max,
                     int64_t *value, struct err *e)
{
    char text[64], quoted[96], *end;
    const char *given;
    if (api_query(c, name, text, sizeof text, &given, e))
        return -1;
    if (!given)
        return 0;
    errno = 0;
    long long n = strtoll(given, &end, 10);
    if (errno || end == given || *end || n < min || n > max)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s '%s' is not a number from %lld to %lld", name,
                       text_quote(given, quoted, sizeof quoted), (long long)min, (long long)max);
    *value = n;
    return 0;
}

int api_moment(const char *name, const char *text, int64_t now_ms, int64_t *ret_ms, struct err *e)
{
    if (moment_parse(text, now_ms, ret_ms) == 0)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "%s '%s' is not a moment: " MOMENT_ACCEPTED " is accepted", name, QUOTED(text));
}
