/* network/record.h — one line of the log of a run's network, and the log.
 * Runs in: porter, which writes records; keeper, which collects them. Pure.
 *
 * RECORD-1 A log has at most NETWORK_LOG_MAX records. The counts are of all of them.
 * RECORD-2 Names in a record come from a guest. network_record_decode() accepts printable ASCII only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "network/policy.h"

/* id, word, whether the policy or the operator refused it */
#define NETWORK_OUTCOME_TABLE(X)                                                             \
    X(NETWORK_OPEN,            "open",            false) /* it lives */                      \
    X(NETWORK_CLOSED,          "closed",          false) /* both sides ended it */           \
    X(NETWORK_RESET,           "reset",           false) /* one side broke it */             \
    X(NETWORK_REFUSED,         "refused",         false) /* the remote host refused it */    \
    X(NETWORK_TIMEOUT,         "timeout",         false) /* the remote host did not answer */ \
    X(NETWORK_UNREACHABLE,     "unreachable",     false) /* there is no way to it */         \
    X(NETWORK_NO_NAME,         "no_name",         false) /* an allowed name has no address */ \
    X(NETWORK_IDLE,            "idle",            false) /* closed after the idle time */    \
    X(NETWORK_BUSY,            "busy",            false) /* the machine has too many of them */ \
    X(NETWORK_BAD_CERTIFICATE, "bad_certificate", false) /* of a host that gets a secret */  \
    X(NETWORK_TLS_FAILED,      "tls_failed",      false) /* no TLS, and it gets a secret */  \
    X(NETWORK_BAD_REQUEST,     "bad_request",     false) /* HTTP that gets no secret */      \
    X(NETWORK_DENIED_NAME,     "denied_name",     true)  /* the name is not in the list */   \
    X(NETWORK_DENIED_PORT,     "denied_port",     true)  /* the port is not in the list */   \
    X(NETWORK_BLOCKED_ADDRESS, "blocked_address", true)  /* an address that no run reaches */ \
    X(NETWORK_SNI_MISMATCH,    "sni_mismatch",    true)  /* TLS for a name not in the list */ \
    X(NETWORK_LIMIT,           "limit",           true)  /* a cap was met */

enum network_outcome {
#define X(id, word, denied) id,
    NETWORK_OUTCOME_TABLE(X)
#undef X
        NETWORK_OUTCOME_COUNT_
};
const char *network_outcome_word(enum network_outcome outcome);
bool network_outcome_is_denial(enum network_outcome outcome);

struct network_record {
    /* Of the connection in its run, from 1; 0: no connection was tried. Each connection ends with one
     * record other than NETWORK_OPEN, which replaces the one before it. */
    uint32_t id;
    enum network_outcome outcome;
    enum network_protocol protocol;
    uint16_t port;                   /* 0: a name was asked for, and no port is known */
    enum network_cap cap;            /* of NETWORK_LIMIT; otherwise NETWORK_CAP_NONE */
    char name[NETWORK_NAME_MAX + 1]; /* "": the guest used an address */
    uint8_t address[16];             /* of the remote host; all zero: none */
    uint64_t start_ms;               /* Unix time */
    uint64_t duration_us, bytes_in, bytes_out;
    char sni[NETWORK_NAME_MAX + 1]; /* "": none was seen */
};

enum { NETWORK_RECORD_MAX = 768, NETWORK_LOG_MAX = 1000 };
[[nodiscard]] int network_record_encode(const struct network_record *r,
                                        char out[NETWORK_RECORD_MAX], size_t *ret_n, struct err *e);
[[nodiscard]] int network_record_decode(const void *bytes, size_t n, struct network_record *ret,
                                        struct err *e);

struct network_log {
    struct network_record *v;
    size_t n, room;
    /* of all records except NETWORK_OPEN, also of the records that v has not */
    uint64_t outcomes[NETWORK_OUTCOME_COUNT_];
    uint64_t connections, bytes_in, bytes_out; /* connections that are over */
    uint32_t caps_hit;                         /* bit 1 << enum network_cap */
    uint64_t omitted;                          /* records that did not fit */
    /* As the kernel counted them: attempts to reach an address outside the list, and a port where nobody listens. */
    uint64_t unrouted, refused;
    bool lost; /* the porter died: the log may have gaps */
};
void network_log_done(struct network_log *log);
/* Copies the record. A record that repeats a denied name is only counted. Never fails: without
 * memory it is omitted. */
void network_log_add(struct network_log *log, const struct network_record *r);
/* Refusals by the policy or the operator. */
uint64_t network_log_denials(const struct network_log *log);
