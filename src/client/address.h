/* client/address.h — the address of a service as a person writes it.
 * Runs in: the command, or a program with libbelljar, with the rights of the caller. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct client;

struct client_address {
    char *path;                    /* of a unix socket; NULL: TCP */
    char *host, *port, *authority; /* of TCP; the authority is host:port as in the URL */
};
void client_address_done(struct client_address *a);

/* "http://HOST[:PORT]" with an address of IPv6 in brackets, "unix:/PATH" or "/PATH". */
[[nodiscard]] int client_address_parse(const char *text, struct client_address *ret, struct err *e);
/* True if a text can go into the head of a request as it is. */
bool client_is_visible(const char *text);
/* 1 to 256 visible characters: a key goes into the head of a request as it is. */
[[nodiscard]] int client_key_check(const char *key, struct err *e);
/* Connects, and adds the host and the key (NULL: none) to every request. */
[[nodiscard]] int client_address_connect(const struct client_address *a, const char *key,
                                         struct client **ret, struct err *e);
