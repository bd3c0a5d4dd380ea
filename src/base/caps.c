#include "base/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int read_caps(struct __user_cap_data_struct have[2], struct err *e)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    if (syscall(SYS_capget, &head, have) < 0)
        return err_set(e, ERR_KERNEL, errno, "read the capabilities");
    return 0;
}

bool caps_has(int cap)
{
    struct __user_cap_data_struct have[2] = { 0 };
    struct err ignored;
    return read_caps(have, &ignored) == 0 && have[cap / 32].effective & (1U << cap % 32);
}

int caps_drop_bounding(struct err *e)
{
    struct __user_cap_data_struct have[2] = { 0 };
    if (read_caps(have, e))
        return -1;
    if (!(have[0].effective & (1U << CAP_SETPCAP)))
        return 0; /* an ordinary user has none to lose, and no_new_privs keeps it so */
    for (int cap = 0; cap < 64; cap++) {
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
            continue;
        if (errno == EINVAL && cap > CAP_SETPCAP)
            break; /* past the kernel's last one */
        return err_set(e, ERR_KERNEL, errno, "drop capability %d from the bounding set", cap);
    }
    return 0;
}

int caps_clear(uint64_t keep_permitted, struct err *e)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct have[2] = { 0 };
    struct __user_cap_data_struct want[2] = { { .permitted = (uint32_t)keep_permitted },
                                              { .permitted = (uint32_t)(keep_permitted >> 32) } };
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "clear the ambient capabilities");
    if (syscall(SYS_capset, &head, want) < 0)
        return err_set(e, ERR_KERNEL, errno, "clear the capabilities");
    if (read_caps(have, e))
        return -1;
    if (memcmp(have, want, sizeof have) != 0)
        return err_set(e, ERR_KERNEL, 0, "a capability is left");
    return 0;
}
