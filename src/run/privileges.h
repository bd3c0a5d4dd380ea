/* run/privileges.h — how a keeper gives up its privileges.
 * Runs in: the keeper of a command and of the service, right after the fork. */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "jar/confinement.h"

/* Gives up every privilege of the parent, leaves its terminal, and makes sure that this process
 * does not outlive it. Becomes `uid`, with no other group, unless it has that uid already. */
[[nodiscard]] int privileges_drop(pid_t parent, uid_t uid, struct err *e);

/* Confines a keeper that has dropped its privileges: see jar/confinement.h. Children that a keeper
 * needs are forked before. */
[[nodiscard]] int privileges_confine(enum role role, const struct landlock_rule *rules,
                                     struct err *e);
