/* run/privileges.h — how a keeper gives up its privileges.
 * Runs in: the keeper of a command and of the service, right after the fork. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* Gives up every privilege of the parent, leaves its terminal, and makes sure that this process
 * does not outlive it. own_uid: takes the uid KEEPER_UID. */
[[nodiscard]] int privileges_drop(pid_t parent, bool own_uid, struct err *e);
