/* base/id.h — names for things that outlive a process. Runs in: keeper, CLI. */
#pragma once

enum { ID_SIZE = 32 };

/* "run_" (four characters, or fewer), 11 hexadecimal digits of the time and 16 random ones. An
 * id cannot be guessed. Ids that are made one after the other are neighbours in an index, which
 * makes a growing index cheaper. */
void id_make(const char *prefix, char out[ID_SIZE]);
