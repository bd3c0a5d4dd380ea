/* injector/injector.h — the process that holds the secrets, and its children: one for each run with a
 * secret, which speaks TLS with the guest and with the host.
 * Runs in: a program of its own (`belljar-inject`), because OpenSSL and the secrets have no place in any
 * other process. injector/start.h starts it.
 *
 * Invariants
 * INJECTOR-1 The parent reads messages of the porter and no byte of a guest or of a host.
 * INJECTOR-2 A child has the values of its run alone. It gets connections that the porter has made and
 *          judged; it makes none, and opens no file.
 * INJECTOR-3 A value leaves a child over TLS alone, to a host that has shown a certificate for the name
 *          that the operator granted it to. So a porter that lies about an address gains no secret.
 * INJECTOR-4 The bytes of a guest pass through rewrite.h. */
#pragma once

#include "injector/values.h"

#define INJECTOR_PROGRAM "belljar-inject"

/* Its descriptors, from this number on. */
enum { INJECTOR_FIRST_FD = 3 };
enum { INJECTOR_CONTROL, INJECTOR_GRANTS, INJECTOR_ENVIRONMENT, INJECTOR_FILE, INJECTOR_FDS };

struct network_policy;
struct injector_machine;
/* The child: serves the connections of one run until the porter closes fd. */
_Noreturn void injection_run(int fd, const struct network_policy *policy, struct values *values,
                             const struct injector_machine *machine);
