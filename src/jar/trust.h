/* jar/trust.h — the certificates of a jar whose connections get secrets.
 * Runs in: the plumber, before guest code runs in the jar. Never logs.
 *
 * A copy of /etc/ssl/certs with one authority more covers that directory in the jar: as a file of all
 * authorities, by its hash, and as Java's store, so that the libraries find it without a variable. */
#pragma once

#include "base/err.h"
#include "jar/jar.h"

/* Waits for the files of the porter (spec/plumbing.h) on from_fd, enters the mounts of the jar, and
 * covers the directory. The calling process cannot go back. */
[[nodiscard]] int trust_install(int from_fd, const struct jar_host *h, int init_pidfd,
                                struct err *e);
