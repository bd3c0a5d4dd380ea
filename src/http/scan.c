/* http/scan.c — finds the end of a head while it arrives, and refuses bytes that no head may
 * contain. */
#include <stdarg.h>
#include <stdio.h>

#include "http/parse.h"

int refuse(struct refusal *r, int status, const char *fmt, ...)
{
    va_list ap;
    r->status = status;
    va_start(ap, fmt);
    (void)vsnprintf(r->detail, sizeof r->detail, fmt, ap);
    va_end(ap);
    return -1;
}

/* The line ends at the LF at s->at. Returns 1 if it was the last line of the head. */
static int line_ends(struct head_scan *s, const struct http_limits *limits, struct refusal *r)
{
    bool empty = s->at == s->line + 1;
    s->at++;
    s->line = s->at;
    if (empty && s->lines > 0)
        return 1;
    if (empty && s->from == 0) { /* RFC 9112, 2.2: some clients send one after a body */
        s->from = s->at;
        return 0;
    }
    if (empty)
        return refuse(r, 400, "the request starts with empty lines; start with the request line");
    s->lines++;
    if (s->lines > (size_t)limits->headers + 1)
        return refuse(r, 431, "there are more than %u headers; send fewer", limits->headers);
    return 0;
}

/* Checks a byte that is not plain text. */
static int special(struct head_scan *s, const char *bytes, const struct http_limits *limits,
                   struct refusal *r)
{
    char b = bytes[s->at];
    bool after_cr = s->at > s->line && bytes[s->at - 1] == '\r';
    if (b == '\n' && after_cr)
        return line_ends(s, limits, r);
    if (b == '\n')
        return refuse(r, 400, "a line of the head ends with LF alone; lines end with CR LF");
    if (b != '\r' && b != '\t')
        return refuse(r, 400, "the head contains the control byte 0x%02x; send plain text",
                      (unsigned)(unsigned char)b);
    s->at++;
    return 0;
}

int head_scan(struct head_scan *s, const char *bytes, size_t n, const struct http_limits *limits,
              struct refusal *r)
{
    while (s->at < n) {
        if (s->at - s->from >= limits->head_bytes)
            return refuse(r, 431, "the request's head is larger than %zu bytes; send less",
                          limits->head_bytes);
        unsigned char b = (unsigned char)bytes[s->at];
        if (s->at > s->line && bytes[s->at - 1] == '\r' && b != '\n')
            return refuse(r, 400, "a CR in the head is not followed by LF; lines end with CR LF");
        if (s->at == s->line && (b == ' ' || b == '\t'))
            return refuse(r, 400, "a line of the head starts with a space; headers are not folded");
        if (b >= 0x20 && b != 0x7f) {
            s->at++;
            continue;
        }
        int end = special(s, bytes, limits, r);
        if (end)
            return end;
    }
    return 0;
}
