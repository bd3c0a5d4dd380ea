#include "api/kernel/door.h"

#include <stdlib.h>
#include <string.h>

struct doors {
    size_t n;
    struct {
        const struct api_door *door;
        struct router *router;
    } v[];
};

int doors_new(struct doors **ret, const struct api_door *const *doors, struct err *e)
{
    size_t n = 0;
    while (doors[n])
        n++;
    struct doors *d = calloc(1, sizeof *d + n * sizeof d->v[0]);
    if (!d)
        return err_no_memory(e, "the doors");
    for (; d->n < n; d->n++) {
        d->v[d->n].door = doors[d->n];
        if (router_new(&d->v[d->n].router, doors[d->n]->tables, e)) {
            doors_free(d);
            return -1;
        }
    }
    *ret = d;
    return 0;
}

void doors_free(struct doors *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n; i++)
        router_free(d->v[i].router);
    free(d);
}

/* Whole segments: "/about" is not the beginning of "/aboutness". */
static bool has_path(const struct api_door *door, const char *path)
{
    for (const char *const *p = door->paths; *p; p++) {
        size_t n = strlen(*p);
        if (strncmp(path, *p, n) == 0 && (path[n] == '\0' || path[n] == '/'))
            return true;
    }
    return false;
}

static bool is_open(const struct api_door *door, const struct settings *settings)
{
    return *(const bool *)((const char *)settings + door->setting);
}

static bool has_host(const struct api_door *door, const struct settings *settings,
                     const struct http_request *q)
{
    const char *host = door->owns_host ? http_request_header(q, "Host") : NULL;
    return host && is_open(door, settings) && door->owns_host(settings, host);
}

/* The host decides first. Then the header: clients of a door may use paths that other interfaces have,
 * too. */
const struct api_door *doors_find(const struct doors *d, const struct settings *settings,
                                  const struct http_request *q, bool *ret_by_host)
{
    *ret_by_host = false;
    for (size_t i = 0; d && i < d->n; i++)
        if (has_host(d->v[i].door, settings, q)) {
            *ret_by_host = true;
            return d->v[i].door;
        }
    for (size_t i = 0; d && i < d->n; i++)
        if (d->v[i].door->header && http_request_header(q, d->v[i].door->header))
            return d->v[i].door;
    for (size_t i = 0; d && i < d->n; i++)
        if (has_path(d->v[i].door, q->path))
            return d->v[i].door;
    return NULL;
}

int doors_match(const struct doors *d, const struct api_door *door, const struct settings *settings,
                const struct http_request *q, char params[API_PARAMS_MAX][API_PARAM_SIZE],
                struct route_match *ret, struct err *e)
{
    if (!is_open(door, settings))
        return err_set(e, ERR_NOT_FOUND, 0,
                       "the door '%s' is off: 'doors.%s = on' in the settings file turns it on "
                       "(or: belljar serve --set doors.%s=on)",
                       door->name, door->name, door->name);
    *ret = (struct route_match){ .route = has_host(door, settings, q) ? door->host_route : NULL };
    for (size_t i = 0; i < d->n && !ret->route; i++)
        if (d->v[i].door == door)
            *ret = router_match(d->v[i].router, q->method, q->path, params);
    return 0;
}
