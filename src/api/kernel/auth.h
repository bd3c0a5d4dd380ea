/* api/kernel/auth.h — who asks, and what that allows. The keys are in memory: no request waits for the disk. */
#pragma once

#include "api/kernel/api.h"

struct api_keys {
    struct key_row *rows;
    size_t n;
};

struct auth_facts {
    bool is_unix;
    uid_t peer_uid, our_uid, owner_uid;
    const char *listener;                /* numeric address; "" when not known */
    const char *authorization, *api_key; /* headers, or NULL */
};

/* Who it is, in place: ret->key points into ret->name. ERR_NO_KEY says what is missing.
 * A key that is right counts first. Without one: root, ourselves and the owner over a unix socket may do everything; so may
 * anybody over loopback while there is no key at all. Nobody else may. */
[[nodiscard]] int auth_identify(const struct api_keys *keys, const struct auth_facts *f,
                                struct api_identity *ret, struct err *e);
/* Of somebody who was identified. `admin` is every scope; SCOPE_ANY asks for none in particular. */
[[nodiscard]] int auth_allows(const struct api_identity *who, int scope, struct err *e);

/* Reads the keys from the disk, now. */
[[nodiscard]] int auth_open(struct api *api, struct err *e);
void auth_close(struct api *api);
/* Rows that replace all; taken over. */
void auth_replace(struct api *api, struct key_row *rows, size_t n);
