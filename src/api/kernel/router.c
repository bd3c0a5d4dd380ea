#include "api/kernel/router.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256 }; /* a power of two, well above the number of paths */

struct entry {
    const struct api_route *route;
    size_t prefix; /* bytes before the first '{' */
    struct entry *next;
};

struct router {
    struct entry *entries;
    size_t n;
    struct entry *exact[BUCKETS]; /* paths without parameters, by hash */
    struct entry *with_params;    /* the others, longest beginning first */
};

static unsigned hash(const char *s)
{
    uint32_t h = 2166136261u; /* FNV-1a; a collision costs only a comparison */
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h & (BUCKETS - 1);
}

static int route_check(const struct router *r, const struct api_route *route, struct err *e)
{
    unsigned params = 0;
    for (const char *p = route->path; *p; p++)
        params += *p == '{';
    if (params > API_PARAMS_MAX)
        return err_set(e, ERR_PROTOCOL, 0, "route %s has more than %d parameters", route->path,
                       API_PARAMS_MAX);
    for (size_t i = 0; i < r->n; i++)
        if (r->entries[i].route->method == route->method &&
            strcmp(r->entries[i].route->path, route->path) == 0)
            return err_set(e, ERR_PROTOCOL, 0, "route %s %s occurs twice",
                           http_method_name(route->method), route->path);
    return 0;
}

static void insert(struct router *r, struct entry *entry)
{
    const char *path = entry->route->path;
    struct entry **at = &r->exact[hash(path)];
    if (path[entry->prefix] == '{') {
        at = &r->with_params;
        while (*at && (*at)->prefix >= entry->prefix)
            at = &(*at)->next;
    }
    entry->next = *at;
    *at = entry;
}

int router_new(struct router **ret, const struct api_route *const *tables, struct err *e)
{
    size_t n = 0;
    for (const struct api_route *const *t = tables; *t; t++)
        for (const struct api_route *route = *t; route->path; route++)
            n++;
    struct router *r = calloc(1, sizeof *r);
    struct entry *entries = calloc(n + 1, sizeof *entries);
    if (!r || !entries) {
        free(r);
        free(entries);
        return err_no_memory(e, "the routes");
    }
    r->entries = entries;
    for (const struct api_route *const *t = tables; *t; t++)
        for (const struct api_route *route = *t; route->path; route++) {
            if (route_check(r, route, e)) {
                router_free(r);
                return -1;
            }
            struct entry *entry = &r->entries[r->n++];
            *entry = (struct entry){ .route = route, .prefix = strcspn(route->path, "{") };
            insert(r, entry);
        }
    *ret = r;
    return 0;
}

void router_free(struct router *r)
{
    if (!r)
        return;
    free(r->entries);
    free(r);
}

static bool path_matches(const char *pattern, const char *path,
                         char params[API_PARAMS_MAX][API_PARAM_SIZE])
{
    unsigned param = 0;
    while (*pattern != '\0') {
        if (*pattern != '{') {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        const char *end = strchr(pattern, '}');
        size_t n = end && end[-1] == '.' ? strlen(path) : strcspn(path, "/");
        if (!end || n == 0 || n >= API_PARAM_SIZE || param >= API_PARAMS_MAX)
            return false;
        memcpy(params[param], path, n);
        params[param++][n] = '\0';
        pattern = end + 1;
        path += n;
    }
    return *path == '\0';
}

/* Notes the method of a route whose path matches. True if the method matches, too. */
static bool match_method(struct route_match *m, const struct api_route *route,
                         enum http_method method)
{
    m->allowed |= 1u << route->method;
    if (route->method == METHOD_GET)
        m->allowed |= 1u << METHOD_HEAD;
    if (route->method != method && !(method == METHOD_HEAD && route->method == METHOD_GET))
        return false;
    m->route = route;
    return true;
}

struct route_match router_match(const struct router *r, enum http_method method, const char *path,
                                char params[API_PARAMS_MAX][API_PARAM_SIZE])
{
    struct route_match m = { 0 };
    const struct entry *entry;
    for (entry = r->exact[hash(path)]; entry; entry = entry->next)
        if (strcmp(entry->route->path, path) == 0 && match_method(&m, entry->route, method))
            return m;
    for (entry = r->with_params; entry; entry = entry->next)
        if (strncmp(path, entry->route->path, entry->prefix) == 0 &&
            path_matches(entry->route->path, path, params) &&
            match_method(&m, entry->route, method))
            return m;
    return m;
}

const char *router_allow(unsigned allowed, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < METHOD_OTHER && used < size; i++)
        if ((allowed | 1u << METHOD_OPTIONS) & 1u << i)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     http_method_name((enum http_method)i));
    return out;
}
