/* run/home_seed.h — files of a seed that a cold program finds in its home directory. Runs in:
 * keeper. A library such as matplotlib would make them anew in each run, slowly.
 *
 * Invariants
 * HOME_SEED-1 A program that does not import the library finds nothing in its home directory.
 * HOME_SEED-2 No run fails because of a seed: it is left out if the job has files or variables of
 *             its own there, or small limits. */
#pragma once

#include "base/err.h"
#include "run/jar_run.h"

/* Reads the files of the language's seed, if it has such. Before the keeper gives up its rights. */
void home_seed_load(const struct language *l);

/* The files of the request and those of the seed, as a new descriptor; -1 if the request needs
 * none. */
[[nodiscard]] int home_seed_add(const struct jar_request *q, int *ret_fd, struct err *e);
