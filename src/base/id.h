/* base/id.h — names for things that outlive a process. Runs in: keeper, CLI. */
#pragma once

enum { ID_SIZE = 32 };

/* "run_" (four characters, or fewer), 11 hexadecimal digits of the time and 16 random ones: nobody can guess another's, and
 * those made one after the other lie together, which costs a growing index less. */
void id_make(const char *prefix, char out[ID_SIZE]);
