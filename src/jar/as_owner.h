/* jar/as_owner.h — the warden acts for a moment as the owner of the namespaces of jars.
 * Runs in: warden, and clones of it before they are confined.
 *
 * A process has every capability in a user namespace that its effective uid owns. The user of the
 * zygotes owns those of jars, so with that uid the warden enters a jar and reads its processes, and
 * needs neither CAP_SYS_PTRACE nor CAP_DAC_OVERRIDE, which hold for every process of the machine.
 *
 * Invariants
 * AS_OWNER-1 Only the effective uid changes. The real uid stays that of root, so a zygote, which has
 *    the same effective uid, can neither signal nor trace the warden. A warden that cannot take its
 *    own uid back ends.
 * AS_OWNER-2 No process is cloned meanwhile, except the init of a jar, which the owner has to make,
 *    and which loses that uid when it becomes the user of its jar. */
#pragma once

#include <sys/types.h>

#include "base/err.h"
#include "jar/jar.h"

[[nodiscard]] int as_owner_begin(const struct jar_host *h, struct err *e);
/* Leaves errno as it was. */
void as_owner_end(const struct jar_host *h);

/* Begins, and makes the init of a jar, which is dumpable: its files in /proc belong to the owner until it
 * has a uid of its own. The cgroup belongs to us, so its file is reached with our uid; init has that uid for
 * files until it has one of its own. Only after a
 * success the warden, in which the pid is returned, has begun. */
[[nodiscard]] pid_t as_owner_clone(const struct jar_host *h, uint64_t namespaces, int cgroup_fd,
                                   int *ret_pidfd, struct err *e);

/* setns(2) for a pidfd of a process in a jar. */
[[nodiscard]] int as_owner_setns(const struct jar_host *h, int pidfd, int namespaces);

/* Begins, and reads files in /proc that only the uid `of`, that of a jar, may open. as_owner_end() ends
 * it. */
[[nodiscard]] int as_owner_begin_looking(const struct jar_host *h, uid_t of, struct err *e);
