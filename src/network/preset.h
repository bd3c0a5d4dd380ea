/* network/preset.h — lists of hosts with a name: ours, and the operator's own.
 * Runs in: main, keeper, supervisor. Pure. An entry "@pypi" of a list stands for all rules of the
 * preset. */
#pragma once

#include "network/policy.h"

/* Ours: names and rules with blanks. */
struct network_preset {
    const char *name, *rules;
};
extern const struct network_preset network_presets[];
extern const size_t network_presets_count;

/* "NAME = HOST HOST; NAME = HOST", as the operator writes them; they come before ours. */
[[nodiscard]] int network_presets_check(const char *own, struct err *e);
/* Adds the rules of an entry: "@NAME", or "HOST[:PORT]". */
[[nodiscard]] int network_policy_add_entry(struct network_policy *p, const char *own,
                                           enum network_protocol protocol, const char *entry,
                                           struct err *e);
/* A whole policy as one text, as settings have it: "none", "full", or entries with commas. Caps are
 * those of `caps`. */
[[nodiscard]] int network_policy_parse(const char *text, const char *own,
                                       const struct network_caps *caps, struct network_policy *ret,
                                       struct err *e);

/* Maxima of API keys: "NAME = ENTRY ENTRY; NAME = none", as the operator writes them. */
[[nodiscard]] int network_keys_check(const char *text, const char *own, struct err *e);
/* The maximum of this key. *ret_found is false if the text does not name it, and *ret is untouched. */
[[nodiscard]] int network_max_of_key(const char *text, const char *own, const char *key,
                                     const struct network_caps *caps, struct network_policy *ret,
                                     bool *ret_found, struct err *e);
