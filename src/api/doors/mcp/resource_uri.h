/* api/doors/mcp/resource_uri.h — the forms of the URIs of resources, and the routes of /v1 that they
 * stand for. Runs in: keeper; pure functions.
 *
 * Invariants
 * MCPURI-1 The path of a URI has the segments of its form. An id has no other characters than ids of
 *          the service have, so no escape of a URI leads to another route. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define MCP_SCHEME "belljar://"

struct mcp_resource_form {
    const char *root;    /* of the path */
    const char *pattern; /* {id} is a segment, {+name} is the rest; NULL after the last form */
    const char *name, *type, *help;
};
extern const struct mcp_resource_form mcp_resource_forms[];

/* The form of a URI, and the path that has its content. NULL: it has none, or memory ran out;
 * *ret_path is to be freed in every case. */
const struct mcp_resource_form *mcp_resource_find(const char *uri, struct buf *ret_path);
