/* network/name.h — names of hosts, strictly. Runs in: keeper, main, supervisor, porter. Pure.
 * NAME-1 There is one form of a name: lower case, A-labels, no dot at the end, at most 253 bytes.
 * NAME-2 A name is no address in disguise. The last label is no number, decimal or hexadecimal, so
 *        that no library reads the name as an IPv4 address (127.1, 0x7f.1, 2130706433). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { NETWORK_NAME_MAX = 253 };

/* The one form of a name that a person wrote: in any case, with one dot at the end, or with letters
 * beyond ASCII. */
[[nodiscard]] int network_name_parse(const char *text, char ret[NETWORK_NAME_MAX + 1],
                                     struct err *e);
/* Whether the text is in that form already. */
bool network_name_is_plain(const char *name);
size_t network_name_labels(const char *name);
/* Whether `name` is beneath `parent`; both in any case. The parent itself is not. */
bool network_name_is_beneath(const char *name, const char *parent);
