#include "api/kernel/auth.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/kernel/guard.h"
#include "base/array.h"

/* The key of the request, or NULL. */
static const char *presented(const struct auth_facts *f)
{
    static const char bearer[] = "Bearer ";
    if (f->authorization && strncasecmp(f->authorization, bearer, sizeof bearer - 1) == 0) {
        const char *key = f->authorization + sizeof bearer - 1;
        return key + strspn(key, " ");
    }
    return f->api_key;
}

/* Compares every row, so that the time does not reveal which one matched. */
static const struct key_row *find(const struct api_keys *keys, const char *text)
{
    uint8_t hash[KEY_HASH_BYTES];
    const struct key_row *found = NULL;
    if (keys->n == 0)
        return NULL;
    key_hash(text, hash);
    for (size_t i = 0; i < keys->n; i++)
        if (key_hash_equal(keys->rows[i].hash, hash))
            found = &keys->rows[i];
    return found;
}

static void identity_of_key(struct api_identity *ret, const struct key_row *row)
{
    (void)snprintf(ret->name, sizeof ret->name, "key:%s", row->name);
    ret->key = ret->name + strlen("key:");
    key_id(row->hash, ret->owner);
    ret->since_ms = row->created_ms;
    ret->scopes = row->scopes & SCOPE_BIT(SCOPE_ADMIN) ? SCOPES_ALL : row->scopes;
    ret->max_runs = row->max_runs;
}

bool auth_has_key(const struct api_keys *keys, const char *id, int scope)
{
    struct api_identity of;
    struct err e = { 0 };
    for (size_t i = 0; i < keys->n; i++) {
        identity_of_key(&of, &keys->rows[i]);
        if (strcmp(of.owner, id) == 0)
            return auth_allows(&of, scope, &e) == 0;
    }
    return false;
}

bool auth_find_key(const struct api_keys *keys, const char *name, int64_t since_ms,
                   struct api_identity *ret)
{
    for (size_t i = 0; i < keys->n; i++) {
        if (strcmp(keys->rows[i].name, name) != 0 || keys->rows[i].created_ms > since_ms)
            continue;
        *ret = (struct api_identity){ 0 };
        identity_of_key(ret, &keys->rows[i]);
        return true;
    }
    return false;
}

static bool is_trusted_peer(const struct auth_facts *f)
{
    return f->is_unix &&
           (f->peer_uid == 0 || f->peer_uid == f->our_uid || f->peer_uid == f->owner_uid);
}

/* A key in a form that is not accepted. It may still be a real key, so the message shows nothing of
 * it except a well-known scheme. */
static int wrong_form(const char *authorization, struct err *e)
{
    static const char *const schemes[] = { "Basic", "Digest", "Token", "ApiKey", "Key" };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (strncasecmp(authorization, schemes[i], n) == 0 && authorization[n] == ' ')
            return err_set(e, ERR_NO_KEY, 0,
                           "Authorization scheme '%s' is not accepted: send "
                           "'Authorization: Bearer KEY', or 'X-API-Key: KEY'",
                           schemes[i]);
    }
    return err_set(
        e, ERR_NO_KEY, 0,
        "Authorization has no 'Bearer ' before the key: send 'Authorization: Bearer KEY', "
        "or 'X-API-Key: KEY'");
}

int auth_identify(const struct api_keys *keys, const struct auth_facts *f, struct api_identity *ret,
                  struct err *e)
{
    const char *text = presented(f);
    const struct key_row *row = text ? find(keys, text) : NULL;
    *ret = (struct api_identity){ .scopes = SCOPES_ALL };
    if (row) {
        identity_of_key(ret, row);
        return 0;
    }
    if (is_trusted_peer(f)) {
        (void)snprintf(ret->name, sizeof ret->name, "unix:%u", (unsigned)f->peer_uid);
        (void)snprintf(ret->owner, sizeof ret->owner, "operator");
        return 0;
    }
    /* The supervisor binds no public address without a key. */
    if (!f->is_unix && !keys->existed && guard_is_loopback(f->listener)) {
        (void)snprintf(ret->name, sizeof ret->name, "anonymous");
        (void)snprintf(ret->owner, sizeof ret->owner, "anonymous");
        return 0;
    }
    ret->scopes = 0;
    if (keys->n == 0)
        return err_set(e, ERR_NO_KEY, 0,
                       "a key is needed, but there is none: create one with 'belljar keys add NAME "
                       "--scopes run,read' (the operator's unix socket needs no key)");
    if (text)
        return err_set(
            e, ERR_NO_KEY, 0,
            "the key of the request is unknown: it is misspelt, or was removed; 'belljar "
            "keys list' shows the names of all keys");
    if (f->authorization)
        return wrong_form(f->authorization, e);
    return err_set(e, ERR_NO_KEY, 0, "a key is needed: send 'Authorization: Bearer KEY'");
}

int auth_allows(const struct api_identity *who, int scope, struct err *e)
{
    if (scope == SCOPE_NONE || scope == SCOPE_ANY || (who->scopes & SCOPE_BIT(scope)))
        return 0;
    const char *word = scope_word((enum scope)scope);
    return err_set(
        e, ERR_DENIED, 0,
        "this request needs scope '%s', which %s does not have: send another key; 'belljar "
        "keys add NAME --scopes %s' makes one",
        word, who->name, word);
}
