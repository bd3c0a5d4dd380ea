/* runtime/public_type.h — the public type that a file declares. Runs in: keeper, CLI; pure.
 * Java wants the file to have the name of that type. */
#pragma once

#include <stddef.h>

/* The place and the length of the name of the first public type that the code declares outside of
 * every other type; 0: none. `kinds` are the words that stand before such a name: "class". Comments
 * and literals declare nothing. The code may be any bytes. */
size_t public_type_find(const char *const *kinds, const char *code, size_t len,
                        const char **ret_name);
