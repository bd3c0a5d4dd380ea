/* service/service_porter.h — the porter of a service: its start, its watch, and its end. Runs in:
 * supervisor.
 * There is none unless the operator allows runs a network (network.max), and none at level process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "porter/porter.h"
#include "run/keeper_uid.h"
#include "service/backoff.h"
#include "service/listen.h"
#include "settings/settings.h"

struct service_porter {
    bool wanted;
    struct porter_process process;
    struct keeper_uid uid;
    struct backoff backoff;
    uint32_t keepers; /* so far */
    struct network_policy max;
    bool match_sni;
    struct injector_setup injector; /* no grants: none is wanted */
    struct address_set private_ranges;
    struct address_endpoint listeners[SETTINGS_LISTEN_MAX];
    size_t n_listeners;
};
#define SERVICE_PORTER_INIT                                                                   \
    {                                                                                         \
        .process = PORTER_PROCESS_INIT, .uid = KEEPER_UID_INIT, .injector.environment_fd = -1 \
    }

/* Reads the settings. With own_uid the porter has a uid that no other process has. */
[[nodiscard]] int service_porter_open(struct service_porter *p, const struct settings *s,
                                      const struct listener *listeners, size_t n_listeners,
                                      bool own_uid, struct err *e);
void service_porter_done(struct service_porter *p);
/* Starts it if it is wanted, is down, and may be started now. True: there is a new one. */
bool service_porter_start(struct service_porter *p, uint64_t now_ms);
/* The socket of a new keeper to it; -1: there is no porter. Its number is p->keepers. */
int service_porter_new_keeper(struct service_porter *p);
/* A keeper cannot use the socket with this number. Ends the porter, unless the socket is an old one.
 * service_porter_check() follows. A keeper that was taken over cannot do it often: each start waits
 * longer than the last one. */
void service_porter_lost(struct service_porter *p, uint32_t number);
/* Reaps it if it has died. */
void service_porter_check(struct service_porter *p);
/* When it is to be started; UINT64_MAX: it runs, or is not wanted. */
uint64_t service_porter_due_ms(const struct service_porter *p);
