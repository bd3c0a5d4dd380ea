/* http/request_query.c — reads headers and query values of a request. */
#include <string.h>
#include <strings.h>

#include "http/http.h"
#include "http/parse.h"

static const char *const method_names[] = {
    [METHOD_GET] = "GET",         [METHOD_HEAD] = "HEAD",   [METHOD_POST] = "POST",
    [METHOD_PUT] = "PUT",         [METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE",
    [METHOD_OPTIONS] = "OPTIONS", [METHOD_OTHER] = "OTHER",
};

const char *http_method_name(enum http_method m)
{
    return method_names[m];
}

const char *http_request_header(const struct http_request *q, const char *name)
{
    for (size_t i = 0; i < q->n_headers; i++)
        if (strcasecmp(q->headers[i].name, name) == 0)
            return q->headers[i].value;
    return NULL;
}

int hex_value(char b)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = b ? strchr(digits, b >= 'A' && b <= 'F' ? b | 0x20 : b) : NULL;
    return at ? (int)(at - digits) : -1;
}

ssize_t percent_decode(const char *s, size_t n, bool plus_is_space, char *out, size_t out_size)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        char b = s[i];
        if (b == '%') {
            int high = i + 2 < n ? hex_value(s[i + 1]) : -1;
            int low = high >= 0 ? hex_value(s[i + 2]) : -1;
            if (low < 0 || (high == 0 && low == 0))
                return DECODE_BAD;
            b = (char)(high * 16 + low);
            i += 2;
        } else if (b == '+' && plus_is_space) {
            b = ' ';
        }
        if (len + 1 >= out_size)
            return DECODE_FULL;
        out[len++] = b;
    }
    if (len >= out_size)
        return DECODE_FULL;
    out[len] = '\0';
    return (ssize_t)len;
}

int http_query_get(const struct http_request *q, const char *name, char *out, size_t out_size,
                   const char **ret_value, struct err *e)
{
    size_t name_len = strlen(name);
    const char *value = NULL;
    for (const char *at = q->query; *at;) {
        size_t len = strcspn(at, "&");
        if (strncmp(at, name, name_len) == 0 && (at[name_len] == '=' || len == name_len)) {
            size_t skip = len == name_len ? name_len : name_len + 1;
            ssize_t got = percent_decode(at + skip, len - skip, true, out, out_size);
            if (got == DECODE_BAD)
                return err_set(e, ERR_BAD_REQUEST, 0,
                               "'%s' in the query has a bad escape: two hex digits other than 00 "
                               "must follow '%%'",
                               name);
            if (got < 0)
                return err_set(e, ERR_BAD_REQUEST, 0,
                               "'%s' in the query is too long: at most %zu bytes are accepted",
                               name, out_size - 1);
            value = out;
            break;
        }
        at += len + (at[len] == '&');
    }
    *ret_value = value;
    return 0;
}
