#include "api/doors/mcp/resource_uri.h"

#include <stdbool.h>
#include <string.h>

static const char id_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

const struct mcp_resource_form mcp_resource_forms[] = {
    { "/v1/", "languages", "languages", "application/json", "the languages" },
    { "/v1/", "runs/{id}", "run", "application/json", "a run: its state, or its result" },
    { "/v1/", "runs/{id}/stdout", "stdout", NULL, "the whole stdout of a run" },
    { "/v1/", "runs/{id}/stderr", "stderr", NULL, "the whole stderr of a run" },
    { "/v1/", "runs/{id}/files/{+name}", "output", NULL, "an output of a run" },
    { "/v1/", "runs/{id}/request", "request", "application/json", "the program of a run" },
    { "/v1/", "sessions/{id}/notebook", "notebook", "application/x-ipynb+json",
      "the cells of a session as a Jupyter notebook" },
    { "/v1/", "sessions/{id}/files", "files", "application/json", "the files of a session" },
    { "/v1/", "sessions/{id}/files/{+path}", "file", NULL, "a file of a session" },
    { "/api/", "artifacts/{id}", "artifact", "application/json", "an artifact and its versions" },
    { 0 },
};

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* False for a bad escape, or an escaped NUL. */
static bool add_unescaped(struct buf *b, const char *text, size_t n)
{
    struct err e;
    for (size_t i = 0; i < n; i++) {
        char byte = text[i];
        if (byte == '%') {
            int high = i + 2 < n ? hex_digit(text[i + 1]) : -1;
            int low = high < 0 ? -1 : hex_digit(text[i + 2]);
            if (low < 0 || high * 16 + low == 0)
                return false;
            byte = (char)(high * 16 + low);
            i += 2;
        }
        if (buf_add(b, &byte, 1, &e))
            return false;
    }
    return true;
}

/* An id of the service, and nothing else (MCPURI-1). */
static bool add_id(struct buf *b, const char *text, size_t n)
{
    size_t before = b->len;
    return n > 0 && add_unescaped(b, text, n) &&
           strspn(buf_str(b) + before, id_characters) == b->len - before;
}

static bool fill(const char *pattern, const char *text, struct buf *path)
{
    struct err e;
    for (;;) {
        size_t n = strcspn(pattern, "{");
        if (strncmp(pattern, text, n) != 0 || buf_add(path, pattern, n, &e))
            return false;
        pattern += n;
        text += n;
        if (!*pattern)
            return *text == '\0';
        if (pattern[1] == '+')
            return *text != '\0' && add_unescaped(path, text, strlen(text));
        n = strcspn(text, "/");
        if (!add_id(path, text, n))
            return false;
        pattern = strchr(pattern, '}') + 1;
        text += n;
    }
}

const struct mcp_resource_form *mcp_resource_find(const char *uri, struct buf *ret_path)
{
    struct err e;
    if (strncmp(uri, MCP_SCHEME, sizeof MCP_SCHEME - 1) != 0)
        return NULL;
    for (const struct mcp_resource_form *f = mcp_resource_forms; f->pattern; f++) {
        ret_path->len = 0;
        if (buf_add(ret_path, f->root, strlen(f->root), &e) == 0 &&
            fill(f->pattern, uri + sizeof MCP_SCHEME - 1, ret_path))
            return f;
    }
    return NULL;
}
