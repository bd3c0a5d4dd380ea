/* Bytes of a client as the URI of a resource of MCP. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/mcp/resource_uri.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t slashes(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '/';
    return n;
}

/* MCPURI-1 */
static void check(const struct mcp_resource_form *f, const struct buf *path)
{
    const char *text = buf_str(path);
    size_t fixed = strcspn(f->pattern, "{"), root = strlen(f->root);
    bool has_rest = strstr(f->pattern, "{+");
    if (strlen(text) != path->len || strncmp(text, f->root, root) != 0 ||
        strncmp(text + root, f->pattern, fixed) != 0)
        abort();
    size_t expected = slashes(f->root) + slashes(f->pattern);
    if (has_rest ? slashes(text) < expected : slashes(text) != expected)
        abort();
    if (!has_rest && strpbrk(text, "%.?#\\ "))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *uri = strndup((const char *)data, size);
    struct buf path = { 0 };
    const struct mcp_resource_form *f = uri ? mcp_resource_find(uri, &path) : NULL;
    if (f)
        check(f, &path);
    buf_done(&path);
    free(uri);
    return 0;
}
