#include "run/privileges.h"

#include <errno.h>
#include <grp.h>
#include <jansson.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/caps.h"

int privileges_drop(pid_t parent, uid_t uid, struct err *e)
{
    (void)prctl(PR_SET_NAME, "belljar-keeper", 0, 0, 0);
    /* Without a controlling terminal this process cannot type into it. Our parent forwards
     * signals. */
    if (setsid() < 0)
        return err_set(e, ERR_KERNEL, errno, "start a session");
    if (confinement_leave_network(e) || caps_drop_bounding(e))
        return -1;
    if (uid != geteuid() &&
        (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
        return err_set(e, ERR_KERNEL, errno, "become uid %u", uid);
    /* After the change of uid, because that clears the death signal. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "give up privileges");
    if (caps_clear(0, e))
        return -1;
    if (getppid() != parent) /* it died before the signal was set */
        return err_set(e, ERR_UNAVAILABLE, 0, "the command was killed");
    return 0;
}

int privileges_confine(enum role role, const struct landlock_rule *rules, struct err *e)
{
    json_object_seed(0); /* reads /dev/urandom */
    tzset();             /* reads the time zone */
    return confinement_enter(role, rules, e);
}
