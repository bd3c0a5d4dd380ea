#include "image/bounds.h"

#include <string.h>
#include <sys/resource.h>

struct bounds {
    struct rlimit limits[RLIM_NLIMITS];
    int priority;
};

/* In the memory of the image, so that the process that became it finds them. */
static struct bounds at_first, taken;

static void look(struct bounds *b)
{
    for (int i = 0; i < RLIM_NLIMITS; i++)
        (void)getrlimit((__rlimit_resource_t)i, &b->limits[i]);
    b->priority = getpriority(PRIO_PROCESS, 0);
}

static bool is_changed(int i)
{
    return memcmp(&taken.limits[i], &at_first.limits[i], sizeof taken.limits[i]) != 0;
}

void image_bounds_begin(void)
{
    look(&at_first);
}

void image_bounds_take(struct image_losses *losses)
{
    look(&taken);
    if (is_changed(RLIMIT_CPU))
        losses->add(losses, "the limit of CPU time (setrlimit)");
}

static rlim_t lesser(rlim_t a, rlim_t b)
{
    return a < b ? a : b;
}

void image_bounds_restore(void)
{
    const struct bounds before = at_first;
    look(&at_first);
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        const struct rlimit now = at_first.limits[i];
        struct rlimit want = taken.limits[i];
        if (i == RLIMIT_CPU || memcmp(&want, &before.limits[i], sizeof want) == 0)
            continue;
        want.rlim_max = lesser(want.rlim_max, now.rlim_max);
        want.rlim_cur = lesser(want.rlim_cur, want.rlim_max);
        (void)setrlimit((__rlimit_resource_t)i, &want);
    }
    if (taken.priority > before.priority)
        (void)setpriority(PRIO_PROCESS, 0, at_first.priority + taken.priority - before.priority);
}
