/* run/privileges.h — how a keeper becomes nobody.
 * Runs in: the keeper of a command and of the service, right after the fork. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* Gives up every privilege the starter has, the uid too where we have one of our own, leaves its terminal, and will not
 * outlive it. */
[[nodiscard]] int privileges_drop(pid_t parent, bool own_uid, struct err *e);
