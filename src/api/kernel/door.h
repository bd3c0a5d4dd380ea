/* api/kernel/door.h — a door: the interface of another product, over the same engine. It has routes,
 * a form of errors and a setting of its own. Runs in: keeper.
 *
 * Invariants
 * DOOR-1 A request for a door that is off is answered with 404, and the message names the setting.
 *        No handler of that door runs.
 * DOOR-2 A door has its own routes and no others: a path of a door never reaches a route of /v1,
 *        and a path of /v1 never a route of a door.
 * DOOR-3 A request whose Host is a name of a door reaches the handler for such names, with any path,
 *        method and headers, and no route: nothing of the service is served on these names. */
#pragma once

#include "api/kernel/api.h"
#include "api/kernel/router.h"

struct api_door {
    const char *name;       /* "piston": its setting is doors.piston */
    size_t setting;         /* the offset of that bool in struct settings */
    enum error_style style; /* of an answer without a route */
    /* NULL, or the same for a path: an interface of two protocols has two forms of errors. */
    enum error_style (*style_at)(const char *path);
    const char *const *paths; /* "/api/v2" is this path and every path below it; ends with NULL */
    const char *header;       /* NULL, or a header: every request that has it is for this door */
    const char *key_header;   /* NULL, or one more header that may hold the key of a caller */
    /* NULL, or a header that holds the key for routes with scope `admin`, before key_header */
    const char *admin_key_header;
    const struct api_route *const *tables; /* ends with NULL */
    /* NULL, or whether a host is a name of this door, with the one route that these names have. */
    bool (*owns_host)(const struct settings *settings, const char *host);
    const struct api_route *host_route;
    /* NULL, or another way to know the caller: by a token that the door gave out. 1: *ret is the
     * caller; 0: the request has no such token, and its key decides; -1: it is refused. */
    int (*identify)(struct api *api, const struct http_request *q, struct api_identity *ret,
                    struct err *e);
    /* NULL, or the end of everything that the door keeps, before the sessions are freed. */
    void (*close)(struct api *api);
};

/* Every door; ends with NULL (doors/doors.c). */
extern const struct api_door *const api_doors[];

/* The doors with their routers. */
struct doors;
[[nodiscard]] int doors_new(struct doors **ret, const struct api_door *const *doors, struct err *e);
void doors_free(struct doors *d);
/* The door that a request is for; NULL: none. `d` may be NULL. *ret_by_host: its Host is a name of the
 * door (DOOR-3), which is open. */
const struct api_door *doors_find(const struct doors *d, const struct settings *settings,
                                  const struct http_request *q, bool *ret_by_host);
/* The route behind a door; ERR_NOT_FOUND if the door is off. */
[[nodiscard]] int doors_match(const struct doors *d, const struct api_door *door,
                              const struct settings *settings, const struct http_request *q,
                              char params[API_PARAMS_MAX][API_PARAM_SIZE], struct route_match *ret,
                              struct err *e);
