/* network/inject.h — headers with secrets that are added to requests of a run, outside its jar.
 * Runs in: main, keeper and supervisor, which parse them; porter and injector, which act on them. Pure.
 *
 * Invariants
 * INJECT-1 No value of a secret is here, only its name.
 * INJECT-2 The operator says which secret may go to which host (`network.secrets`). A request that
 *          names another pair is refused, and the injector checks it again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "network/name.h"

enum {
    NETWORK_INJECTS_MAX = 16,
    NETWORK_HEADER_MAX = 63,
    NETWORK_SECRET_MAX = 63, /* the name of a secret */
    NETWORK_PREFIX_MAX = 63,
    NETWORK_INJECT_TEXT = NETWORK_NAME_MAX + NETWORK_HEADER_MAX + NETWORK_SECRET_MAX +
                          NETWORK_PREFIX_MAX + 24,
};

struct network_inject {
    uint16_t port;
    char host[NETWORK_NAME_MAX + 1]; /* as network/name.h has it */
    char header[NETWORK_HEADER_MAX + 1];
    char secret[NETWORK_SECRET_MAX + 1];
    char prefix[NETWORK_PREFIX_MAX + 1]; /* before the value: "Bearer " */
};

/* `host` is "NAME" (port 443) or "NAME:PORT". prefix may be NULL. */
[[nodiscard]] int network_inject_make(const char *host, const char *header, const char *secret,
                                      const char *prefix, struct network_inject *ret,
                                      struct err *e);
/* "HOST[:PORT]:HEADER=[PREFIX ]SECRET", as the command line has it. */
[[nodiscard]] int network_inject_parse(const char *text, struct network_inject *ret, struct err *e);
/* Checks every field again, for a reader of bytes. */
bool network_inject_is_plain(const struct network_inject *x);
/* "api.example.org:443 Authorization: Bearer <NAME>" */
const char *network_inject_text(const struct network_inject *x, char out[NETWORK_INJECT_TEXT]);

/* The grants of the operator: "NAME = HOST[:PORT] HOST header:HEADER key:KEY; NAME = HOST". Without
 * `header:` any header will do, without `key:` any key. */
[[nodiscard]] int network_secrets_check(const char *grants, struct err *e);
/* Whether the operator lets this secret go to this host in this header, for this key (NULL: the
 * caller has none). ERR_DENIED says the reason. */
[[nodiscard]] int network_secret_granted(const char *grants, const struct network_inject *x,
                                         const char *key, struct err *e);
/* The same without a look at the key, which the injector does not know. */
[[nodiscard]] int network_secret_may_go(const char *grants, const struct network_inject *x,
                                        struct err *e);
/* The names of the grants, one after the other: *at begins as grants. False: no more. */
bool network_secret_next(const char **at, char ret[NETWORK_SECRET_MAX + 1]);
bool network_secret_is_name(const char *text);
