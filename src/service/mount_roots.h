/* service/mount_roots.h — the directories of the setting mounts.roots. Runs in: supervisor, which hands
 * them to each warden. */
#pragma once

#include "base/err.h"
#include "settings/settings.h"

/* Each one must be there when the service starts: a directory, through no link. *ret NULL: none. */
[[nodiscard]] int mount_roots_open(const struct settings *s, char ***ret, struct err *e);
