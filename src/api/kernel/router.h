/* api/kernel/router.h — method and path to a route. Built once from the tables; pure. */
#pragma once

#include "api/kernel/api.h"

struct router;

/* `tables` ends with NULL. A route that occurs twice, or has too many parameters, is an error. */
[[nodiscard]] int router_new(struct router **ret, const struct api_route *const *tables,
                             struct err *e);
void router_free(struct router *r);

struct route_match {
    const struct api_route *route; /* NULL: no such path, or another method */
    unsigned allowed;              /* bits 1 << enum http_method of the path; 0: no such path */
};
/* params gets the values of {...}. A path without parameters wins over one with parameters; then
 * the path with the longer beginning wins. */
struct route_match router_match(const struct router *r, enum http_method method, const char *path,
                                char params[API_PARAMS_MAX][API_PARAM_SIZE]);

/* "GET, HEAD, OPTIONS" */
const char *router_allow(unsigned allowed, char *out, size_t size);
