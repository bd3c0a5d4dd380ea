/* injector/messages.h — the words between porter and injectors. Each is one packet of a fixed size.
 * Runs in: porter, injector.
 *
 * The porter asks the injector of the service with a net-open message (wire/wire.h): a policy, and one
 * end of a pair of sockets for the injector of that run. Over that pair:
 *   injector → porter  the certificates for the jar, once: a inject_report of kind INJECT_TRUST with
 *                    INJECT_TRUST_FDS sealed memory files
 *   porter → injector  a inject_connection with two sockets: to the guest, and to the host
 *   injector → porter  inject_reports about connections */
#pragma once

#include <stdint.h>

#include "network/name.h"
#include "spec/plumbing.h"

struct inject_connection {
    uint32_t id; /* the porter's */
    uint32_t port;
    char host[NETWORK_NAME_MAX + 1];
};
enum { INJECT_TO_GUEST, INJECT_TO_HOST, INJECT_CONNECTION_FDS };

enum inject_report_kind {
    INJECT_TRUST, /* the run can begin */
    INJECT_NOTE,  /* the outcome of a connection that will end by itself */
    INJECT_END,   /* the connection is to be reset, with this outcome */
};
struct inject_report {
    uint32_t kind, id;
    uint32_t outcome; /* enum network_outcome */
};
enum { INJECT_TRUST_FDS = PLUMBING_TRUST_FDS };
