#include "run/level.h"

#include <errno.h>

#include "base/array.h"
#include "runtime/language.h"

static int open_exactly(enum level level, struct warden *ret, struct err *e)
{
    const struct zygote_def *zygotes[ZYGOTE_KINDS_MAX + 1] = { NULL };
    (void)warm_zygotes(zygotes);
    if (warden_start(level, zygotes, ret, e) == 0)
        return 0;
    return err_wrap(e, "isolation level '%s' is not to be had here (see 'belljar doctor')",
                    level_name(level));
}

/* Something the machine has, but not at this moment: no reason to make do with less isolation. */
static bool is_passing(const struct err *e)
{
    static const int passing[] = { EAGAIN, EMFILE, ENFILE, ENOMEM, EINTR, EIO };
    for (unsigned i = 0; i < ARRAY_LEN(passing); i++)
        if (e->sys == passing[i])
            return true;
    return e->code == ERR_NO_MEMORY || e->code == ERR_PROTOCOL;
}

int level_open_warden(enum level level, struct warden *ret, struct err *e)
{
    if (level != LEVEL_AUTO)
        return open_exactly(level, ret, e);
    for (unsigned i = 0; i < LEVELS_TO_TRY; i++) {
        if (open_exactly(levels_best_first[i], ret, e) == 0)
            return 0;
        if (is_passing(e))
            return -1;
    }
    return -1; /* what the weakest level lacks is what is in the way */
}
