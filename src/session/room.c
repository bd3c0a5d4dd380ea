/* Whether there is room for more sessions. */
#include <stdio.h>

#include "engine/pools/pools.h"
#include "session/session_impl.h"

int sessions_check_room(const struct sessions *all, const struct session_spec *spec, unsigned count,
                        struct err *e)
{
    unsigned n = sessions_count(all, NULL), own = spec->key ? sessions_count(all, spec->key) : 0;
    struct pools_memory memory = pools_memory_read();
    if (all->stopping)
        return err_set(e, ERR_BUSY, 0, "the service is stopping: try again when it is back");
    char more[48] = "";
    if (count > 1)
        (void)snprintf(more, sizeof more, "there is no room for %u more: ", count);
    if (n + count > all->limits.max)
        return err_set(e, ERR_BUSY, 0,
                       "%s%u sessions are open, and this service (sessions.max) accepts no more "
                       "than %u: end one first",
                       more, n, all->limits.max);
    if (spec->key && own + count > all->limits.max_per_key)
        return err_set(e, ERR_BUSY, 0,
                       "%sthis key has %u open sessions, and sessions.max_per_key allows no more "
                       "than %u: end one first",
                       more, own, all->limits.max_per_key);
    if (memory.total > 0 && memory.available < all->limits.memory_floor)
        return err_set(e, ERR_BUSY, 0,
                       "memory is short: %llu MiB are available, and a new session needs %llu: end "
                       "a session, or try again later",
                       (unsigned long long)(memory.available >> 20),
                       (unsigned long long)(all->limits.memory_floor >> 20));
    return 0;
}
