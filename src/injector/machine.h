/* injector/machine.h — parts of the injector that every run shares. Runs in: injector. */
#pragma once

#include <openssl/ssl.h>

#include "base/buf.h"
#include "base/err.h"
#include "injector/java_store.h"

struct injector_machine {
    SSL_CTX *outward;       /* verifies hosts with the authorities of the operator */
    struct buf bundle;      /* the authorities that a jar of this machine trusts, as text */
    struct java_store java; /* the same */
    char *grants;           /* network/inject.h */
};
/* Reads files: before the injector gives up its rights. */
[[nodiscard]] int machine_open(struct injector_machine *ret, struct err *e);
