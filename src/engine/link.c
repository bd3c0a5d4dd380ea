#include "engine/link.h"

static int open_exactly(enum level level, struct warden *ret, struct err *e)
{
    if (warden_start(level, ret, e) == 0)
        return 0;
    e->code = ERR_UNAVAILABLE;
    return err_wrap(e, "isolation level '%s' is not to be had here (see 'belljar doctor')",
                    level_name(level));
}

int link_open(enum level level, struct warden *ret, struct err *e)
{
    static const enum level best_first[] = { LEVEL_JAR, LEVEL_ROOTLESS, LEVEL_PROCESS };
    if (level != LEVEL_AUTO)
        return open_exactly(level, ret, e);
    for (unsigned i = 0; i < sizeof best_first / sizeof best_first[0]; i++)
        if (open_exactly(best_first[i], ret, e) == 0)
            return 0;
    return -1; /* what the weakest level lacks is what is in the way */
}
