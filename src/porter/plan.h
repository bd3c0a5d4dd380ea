/* porter/plan.h — the sockets that a policy needs in a jar. Pure.
 * Runs in: keeper, for the warden; porter, for the same policy.
 *
 * Each name of a list has a synthetic address of its own, so that the address of a connection says
 * which name is meant. Wildcards have one listener for each port at every address; their names get
 * addresses when the guest asks for them. */
#pragma once

#include "network/policy.h"
#include "spec/plumbing.h"

/* The address of a name is made of the name alone, so that it is the same in every list, after a change
 * of the list, and in a copy of a session: a guest may remember it. If another name has it, the next
 * attempt has another one. */
#define PLAN_FIRST_ADDRESS (SYNTHETIC_NET + 2)
enum { PLAN_ADDRESSES = (1 << (32 - SYNTHETIC_PREFIX)) - 4, PLAN_ATTEMPTS = 8 };
uint32_t plan_address(const char *name, unsigned attempt);

/* The synthetic address of the name of each rule; 0 if it has none. */
[[nodiscard]] int plan_addresses(const struct network_policy *p, uint32_t ret[NETWORK_RULES_MAX],
                                 struct err *e);

/* Whether this porter can do all of the policy; the error says which part it cannot. */
[[nodiscard]] int plan_possible(const struct network_policy *p, struct err *e);
/* Whether rule i is the first with its name, which is no wildcard. */
bool plan_rule_begins_name(const struct network_policy *p, size_t i);
[[nodiscard]] int plan_make(const struct network_policy *p, struct plumbing *ret, struct err *e);
