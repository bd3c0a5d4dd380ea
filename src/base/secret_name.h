/* base/secret_name.h — whether the name of a variable, an attribute or a key says that its value is
 * a secret. Such a value is not shown. Pure; also compiled into the drivers.
 *
 * A name is a guess: a secret under another name is shown, and a harmless value under such a name is
 * not. `key` and `tokens` alone are the names of too many other things. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Of a dotted name, the last part counts. */
bool secret_name(const char *name, size_t n);
