/* Applies the filters that seccomp_gen made. */
#include "jar/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jar/seccomp_filters.h" /* generated */

#define PROGRAM(array) { .ops = (array), .len = sizeof(array) / sizeof((array)[0]) }
static const struct {
    const struct sock_filter *ops;
    unsigned short len;
} programs[SECCOMP_PROFILES] = {
    [SECCOMP_JAR] = PROGRAM(seccomp_filter_jar),
    [SECCOMP_NO_SOCKETS] = PROGRAM(seccomp_filter_no_sockets),
    [SECCOMP_PROCESS] = PROGRAM(seccomp_filter_process),
    [SECCOMP_INIT] = PROGRAM(seccomp_filter_init),
    [SECCOMP_LISTED] = PROGRAM(seccomp_filter_listed),
    [SECCOMP_LISTED_OWN_CODE] = PROGRAM(seccomp_filter_listed_own_code),
    [SECCOMP_READER] = PROGRAM(seccomp_filter_reader),
    [SECCOMP_WARDEN] = PROGRAM(seccomp_filter_warden),
    [SECCOMP_ZYGOTE] = PROGRAM(seccomp_filter_zygote),
    [SECCOMP_EMBRYO] = PROGRAM(seccomp_filter_embryo),
    [SECCOMP_EMBRYO_NO_SOCKETS] = PROGRAM(seccomp_filter_embryo_no_sockets),
    [SECCOMP_COMMAND_KEEPER] = PROGRAM(seccomp_filter_command_keeper),
    [SECCOMP_CLIENT_KEEPER] = PROGRAM(seccomp_filter_client_keeper),
    [SECCOMP_SERVICE_KEEPER] = PROGRAM(seccomp_filter_service_keeper),
    [SECCOMP_PORTER] = PROGRAM(seccomp_filter_porter),
    [SECCOMP_INJECTOR_PARENT] = PROGRAM(seccomp_filter_injector_parent),
    [SECCOMP_INJECTOR] = PROGRAM(seccomp_filter_injector),
};

/* The kernel checks, translates and compiles each filter anew: that took 0.1 ms of a warm run. */
static enum seccomp_profile shortest(enum seccomp_profile profile)
{
    bool has_short = profile == SECCOMP_JAR || profile == SECCOMP_NO_SOCKETS;
    if (!has_short || prctl(SECCOMP_ZYGOTE_PROBE, 0, 0, 0, 0) != -1 || errno != ENOTNAM)
        return profile;
    return profile == SECCOMP_JAR ? SECCOMP_EMBRYO : SECCOMP_EMBRYO_NO_SOCKETS;
}

int seccomp_apply(enum seccomp_profile profile, struct err *e)
{
    if ((unsigned)profile >= SECCOMP_PROFILES)
        return err_set(e, ERR_KERNEL, EINVAL, "seccomp profile %d", (int)profile);
    int nnp = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    if (nnp != 1)
        return err_set(e, ERR_KERNEL, nnp < 0 ? errno : 0, "seccomp: no_new_privs is not set");

    profile = shortest(profile);
    struct sock_fprog program = {
        .len = programs[profile].len,
        .filter = (struct sock_filter *)programs[profile].ops, /* the kernel only reads it */
    };
    /* No flags. SPEC_ALLOW would lift the store-bypass protection that kernels before 5.16 give to
     * every filtered process, and the program is a process to protect against. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        return err_set(e, ERR_KERNEL, errno, "seccomp");
    return 0;
}
