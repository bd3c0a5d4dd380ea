/* cli/commands/owner_child.h — a child that becomes the owner of the data of a service, for good,
 * while this process keeps the rights of its caller. */
#pragma once

#include "base/err.h"

/* Runs the function in a child. It calls service_db_open(), which becomes the owner. An error is
 * printed; a positive number that the function returns is its exit status. Returns the exit status of the
 * child, or -1. */
[[nodiscard]] int owner_child(int (*run)(void *context, struct err *e), void *context,
                              struct err *e);
