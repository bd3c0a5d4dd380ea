/* porter/plan.h — the sockets that a policy needs in a jar. Pure.
 * Runs in: keeper, for the warden; porter, for the same policy.
 *
 * Each name of a list has a synthetic address of its own, so that the address of a connection says
 * which name is meant. Wildcards have one listener for each port at every address; their names get
 * addresses when the guest asks for them. */
#pragma once

#include "network/policy.h"
#include "spec/plumbing.h"

/* The names of a list, each once, in the order of their first rule. */
#define PLAN_FIRST_ADDRESS (SYNTHETIC_NET + 2)
enum { PLAN_ADDRESSES = (1 << (32 - SYNTHETIC_PREFIX)) - 4 };

/* Whether this porter can do all of the policy; the error says which part it cannot. */
[[nodiscard]] int plan_possible(const struct network_policy *p, struct err *e);
/* Whether rule i is the first with its name, which is no wildcard. */
bool plan_rule_begins_name(const struct network_policy *p, size_t i);
[[nodiscard]] int plan_make(const struct network_policy *p, struct plumbing *ret, struct err *e);
