/* api/kernel/router.h — method and path to a route. Built once from the tables; pure. */
#pragma once

#include "api/kernel/api.h"

struct router;

/* `tables` ends with NULL. Refuses a table that says the same twice, or more parameters than fit. */
[[nodiscard]] int router_new(struct router **ret, const struct api_route *const *tables,
                             struct err *e);
void router_free(struct router *r);

struct route_match {
    const struct api_route *route; /* NULL: no such path, or not with this method */
    unsigned allowed; /* bits 1 << enum http_method that the path takes; 0: no such path */
};
/* params gets what stood for {…}. A path without parameters wins over one with; then the longer beginning does. */
struct route_match router_match(const struct router *r, enum http_method method, const char *path,
                                char params[API_PARAMS_MAX][API_PARAM_SIZE]);

/* "GET, HEAD, OPTIONS" */
const char *router_allow(unsigned allowed, char *out, size_t size);
