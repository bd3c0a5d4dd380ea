/* api/kernel/auth.h — the identity of a caller, and its rights. The keys are in memory: no request
 * waits for the disk. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

struct api_keys {
    struct key_row *rows;
    size_t n;
    bool existed; /* there was a key once: callers without one are refused for good */
};

struct auth_facts {
    bool is_unix;
    uid_t peer_uid, our_uid, owner_uid;
    const char *listener;                /* numeric address; "" if not known */
    const char *authorization, *api_key; /* headers, or NULL */
};

/* Fills in *ret; ret->key points into ret->name, so *ret must not move. ERR_NO_KEY names the
 * missing header. A valid key decides. Without a key, root, our own uid and the owner have every
 * right over a unix socket, and so does every caller over loopback before the first key. All other
 * callers are refused. */
[[nodiscard]] int auth_identify(const struct api_keys *keys, const struct auth_facts *f,
                                struct api_identity *ret, struct err *e);
/* Whether the identity has the scope. `admin` has every scope; every identity has SCOPE_ANY. */
[[nodiscard]] int auth_allows(const struct api_identity *who, int scope, struct err *e);

/* The identity of the key with this name, which is not older than since_ms. False: there is none. */
bool auth_find_key(const struct api_keys *keys, const char *name, int64_t since_ms,
                   struct api_identity *ret);
/* Whether the key with this id exists, and has the scope. */
bool auth_has_key(const struct api_keys *keys, const char *id, int scope);

/* Reads the keys from the disk, and waits for it. */
[[nodiscard]] int auth_open(struct api *api, struct err *e);
void auth_close(struct api *api);
/* Replaces all keys. Takes over the rows. existed: as keys_existed() says; once true, it stays. */
void auth_replace(struct api *api, struct key_row *rows, size_t n, bool existed);
