#include "jar/confinement.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/caps.h"
#include "jar/seccomp.h"

/* Headers of the build machine may be older than the kernel. */
enum { SET_MDWE = 65, MDWE_REFUSE_EXEC_GAIN = 1 };

/* Languages are looked for here, and the commands of allow-lists. */
#define LANGUAGES "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache"
static const char *const nothing[] = { NULL };
static const char *const languages[] = { LANGUAGES, NULL };
/* Memory, load and CPUs decide how many jars wait; libuv keeps a descriptor of /dev/null in reserve. */
static const char *const languages_and_machine[] = {
    LANGUAGES, "/proc", "/sys/fs/cgroup", "/sys/devices/system/cpu", "/dev/null", NULL,
};
enum { RULES_MAX = 24 };

static const struct {
    enum seccomp_profile filter;
    const char *const *reads; /* files for reading; the caller may add rules. NULL: every file */
    bool makes_code;          /* for guests, or it executes programs that do */
    bool connects;            /* to the network of the machine */
} roles[ROLE_COUNT_] = {
    [ROLE_COMMAND_KEEPER] = { SECCOMP_COMMAND_KEEPER, languages },
    [ROLE_CLIENT_KEEPER] = { SECCOMP_CLIENT_KEEPER, nothing },
    [ROLE_SERVICE_KEEPER] = { SECCOMP_SERVICE_KEEPER, languages_and_machine },
    [ROLE_PORTER] = { SECCOMP_PORTER, nothing, .connects = true },
    [ROLE_INJECTOR_PARENT] = { SECCOMP_INJECTOR_PARENT, nothing },
    [ROLE_INJECTOR] = { SECCOMP_INJECTOR, nothing },
    [ROLE_SUPERVISOR] = { SECCOMP_WARDEN, NULL, true },
    [ROLE_WARDEN] = { SECCOMP_WARDEN, NULL, true },
    [ROLE_ZYGOTE] = { SECCOMP_ZYGOTE, NULL, true },
};

int confinement_leave_network(struct err *e)
{
    if (geteuid() != 0 || unshare(CLONE_NEWNET) == 0 || errno == EPERM)
        return 0;
    return err_set(e, ERR_KERNEL, errno, "leave the network");
}

static int refuse_new_code(struct err *e)
{
    if (prctl(SET_MDWE, MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) < 0 && errno != EINVAL)
        return err_set(e, ERR_KERNEL, errno, "refuse new executable memory");
    return 0;
}

static int apply_filter(enum seccomp_profile filter, struct err *e)
{
#ifdef __SANITIZE_ADDRESS__ /* see CONFINE-2 */
    (void)filter;
    (void)e;
#else
    /* A fork inherits this number together with the filters. A second copy would only cost time. */
    static unsigned applied;
    if (applied & (1U << filter))
        return 0;
    if (seccomp_apply(filter, e))
        return -1;
    applied |= 1U << filter;
#endif
    return 0;
}

static int limit_files(const char *const *reads, const struct landlock_rule *more, bool connects,
                       struct err *e)
{
    struct landlock_rule rules[RULES_MAX] = { 0 };
    size_t n = 0;
    uint32_t abi = landlock_abi();
    if (abi == 0)
        return 0;
    for (; *reads && n < RULES_MAX - 1; reads++)
        rules[n++] = (struct landlock_rule){ *reads, LANDLOCK_READ_DATA, true };
    for (; more && more->path && n < RULES_MAX - 1; more++)
        rules[n++] = *more;
    return landlock_apply(abi, rules, !connects, e);
}

int confinement_enter(enum role role, const struct landlock_rule *more, struct err *e)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "set no_new_privs");
    if ((roles[role].reads && limit_files(roles[role].reads, more, roles[role].connects, e)) ||
        (!roles[role].makes_code && refuse_new_code(e)))
        return -1;
    return apply_filter(roles[role].filter, e);
}

int confinement_narrow(enum role role, struct err *e)
{
    return apply_filter(roles[role].filter, e);
}

void confinement_layers(struct confinement_layer ret[CONFINEMENT_LAYERS])
{
#ifdef __SANITIZE_ADDRESS__
    const bool filters = false;
#else
    const bool filters = true;
#endif
    const struct confinement_layer all[CONFINEMENT_LAYERS] = {
        { "seccomp", "only the system calls of its role", filters },
        { "landlock", "only the files of its role", landlock_abi() > 0 },
        { "no_new_code", "no new executable memory (Linux 6.3)",
          prctl(SET_MDWE, 0, 0, 0, 0) == 0 }, /* no flag: changes nothing */
        { "no_network", "an empty network namespace, if root starts it", geteuid() == 0 },
    };
    for (int i = 0; i < CONFINEMENT_LAYERS; i++)
        ret[i] = all[i];
}
