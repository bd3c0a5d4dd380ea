/* /console: the files of the browser console. They need no key (CONSOLE-1). */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/kernel/api.h"
#include "base/text.h"
#include "console/console.h"

static const char plain_text[] = "text/plain; charset=utf-8";

/* Whether a header has the word, alone or in a list: "gzip", "gzip;q=0.5". "gzip;q=0" refuses it. */
static bool header_accepts(const struct http_request *q, const char *name, const char *word)
{
    const char *at = http_request_header(q, name);
    size_t n = strlen(word);
    while (at && *at) {
        at += strspn(at, ", \t");
        size_t len = strcspn(at, ",");
        size_t used = strcspn(at, ",; \t");
        if (used == n && strncasecmp(at, word, n) == 0) {
            const char *q0 = strcasestr(at, "q=0");
            return !(q0 && q0 < at + len && strspn(q0 + 3, ".0") == strcspn(q0 + 3, ", \t;"));
        }
        at += len;
    }
    return false;
}

static void add_headers(struct http_exchange *x, const struct console_file *f)
{
    static const struct http_header always[] = {
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "X-DNS-Prefetch-Control", "off" },
        { NULL, NULL },
    };
    for (const struct http_header *h = always; h->name; h++)
        http_answer_header(x, h->name, h->value);
    http_answer_header(x, "Content-Security-Policy", console_policy(f));
    http_answer_header(x, "ETag", f->etag);
    http_answer_header(x, "Cache-Control",
                       f->is_hashed ? "public, max-age=31536000, immutable" : "no-cache");
    if (f->is_gzip)
        http_answer_header(x, "Content-Encoding", "gzip");
}

static void serve(struct api_call *c, const char *name)
{
    static const char no_gzip[] = "The console's scripts are compressed: send the header "
                                  "'Accept-Encoding: gzip', as every browser does.\n";
    char text[300], quoted[96];
    const struct console_file *f = console_find(name);
    if (!f) {
        (void)snprintf(text, sizeof text,
                       "The console has no file '%s'. It begins at /console/. If the service was "
                       "updated a moment ago, load the page again.\n",
                       text_quote(name, quoted, sizeof quoted));
        api_reply_text(c, 404, plain_text, text, strlen(text));
        return;
    }
    struct http_exchange *x = c->http;
    const struct http_request *q = &x->request;
    if (f->is_gzip && !header_accepts(q, "Accept-Encoding", "gzip")) {
        api_reply_text(c, 406, plain_text, no_gzip, sizeof no_gzip - 1);
        return;
    }
    const char *known = http_request_header(q, "If-None-Match");
    add_headers(x, f);
    if (known && strstr(known, f->etag))
        api_reply_text(c, 304, NULL, "", 0);
    else
        api_reply_text(c, 200, f->content_type, console_bytes(f), f->size);
}

static void get_page(struct api_call *c)
{
    serve(c, "");
}

static void get_file(struct api_call *c)
{
    serve(c, c->params[0]);
}

static void redirect(struct api_call *c)
{
    http_answer_header(c->http, "Location", "/console/");
    api_reply_text(c, 302, plain_text, "The console is at /console/.\n", 29);
}

const struct api_route console_routes[] = {
    { METHOD_GET, "/console", SCOPE_NONE, .flags = ROUTE_LENIENT, .handle = redirect,
      .summary = "The way to the console",
      .replies = REPLIES({ 302, .content_type = plain_text, .help = "its address" }) },
    { METHOD_GET, "/console/", SCOPE_NONE, .flags = ROUTE_LENIENT, .handle = get_page,
      .summary = "The console, for browsers",
      .replies = REPLIES({ 200, .content_type = "text/html" }) },
    { METHOD_GET, "/console/{name...}", SCOPE_NONE, .flags = ROUTE_LENIENT, .handle = get_file,
      .summary = "A file of the console",
      .replies = REPLIES({ 200, .content_type = "text/javascript" }) },
    { 0 },
};
