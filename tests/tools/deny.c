/* deny: run a command with some system calls refused.
 *
 *     deny RULE[,RULE…] -- COMMAND [ARG…]
 *
 * RULE    NAME or NUMBER      refused with EPERM
 *         NAME:ERRNO          refused with that errno (EPERM, ENOSYS, EINVAL, EACCES, ENOMEM or a number)
 *         prctl:OPTION        only that option, by number, refused with EPERM
 *         clone:newuser       a new user namespace by clone or unshare; clone3 is ENOSYS, as its flags cannot be seen
 *         namespaces          any new namespace, and setns, as container runtimes refuse by default
 *         suid-sgid           files with these bits, and openat2, as RestrictSUIDSGID= of systemd does
 *
 * Tests use it to bring about a weaker machine: a container that forbids namespaces, or a kernel that
 * lacks one layer. The filter is set without no_new_privs where the caller may do so, so that
 * "no_new_privs cannot be set" is a machine that can be brought about, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "deny knows x86_64 and aarch64"
#endif

#define ANY_NAMESPACE                                                                      \
    ((unsigned)(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | \
                CLONE_NEWUTS | CLONE_NEWCGROUP))

struct name {
    const char *name;
    int number;
};

#define CALL(x)      \
    {                \
#x, __NR_##x \
    }
static const struct name calls[] = {
    CALL(capset),
    CALL(chdir),
    CALL(chroot),
    CALL(clone),
    CALL(clone3),
    CALL(close_range),
    CALL(execve),
    CALL(execveat),
    CALL(fchown),
    CALL(fchownat),
    CALL(fsconfig),
    CALL(fsmount),
    CALL(fsopen),
    CALL(kill),
    CALL(landlock_add_rule),
    CALL(landlock_create_ruleset),
    CALL(landlock_restrict_self),
    CALL(mkdirat),
    CALL(mount),
    CALL(mount_setattr),
    CALL(move_mount),
    CALL(open_tree),
    CALL(openat2),
    CALL(pidfd_open),
    CALL(pidfd_send_signal),
    CALL(pivot_root),
    CALL(prctl),
    CALL(prlimit64),
    CALL(seccomp),
    CALL(setdomainname),
    CALL(setgid),
    CALL(setgroups),
    CALL(sethostname),
    CALL(setns),
    CALL(setresgid),
    CALL(setresuid),
    CALL(setrlimit),
    CALL(setsid),
    CALL(setuid),
    CALL(umount2),
    CALL(unshare),
};

static const struct name errnos[] = {
    { "EPERM", EPERM },   { "ENOSYS", ENOSYS }, { "EINVAL", EINVAL },
    { "EACCES", EACCES }, { "ENOMEM", ENOMEM },
};

struct filter {
    struct sock_filter code[2048];
    unsigned short len;
};

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "deny: %s: %s\n", what, detail);
    exit(99);
}

static int number_of(const struct name *table, size_t n, const char *text, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(table[i].name, text) == 0)
            return table[i].number;
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 0 || value > 4095)
        die(what, text);
    return (int)value;
}

#define NUMBER(table, text, what) number_of(table, ARRAY_LEN(table), text, what)

static void emit(struct filter *f, unsigned code, unsigned char jt, unsigned char jf, unsigned k)
{
    if (f->len == ARRAY_LEN(f->code))
        die("too many rules", "the filter is full");
    f->code[f->len++] = (struct sock_filter){ (unsigned short)code, jt, jf, k };
}

static void load(struct filter *f, size_t offset)
{
    emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (unsigned)offset);
}

static void refuse(struct filter *f, int call, int error)
{
    load(f, offsetof(struct seccomp_data, nr));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)call);
    emit(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (unsigned)error);
}

/* Refuses `call` when its first argument compares true: BPF_JEQ for an option, BPF_JSET for flags. */
static void refuse_arg(struct filter *f, int call, unsigned compare, unsigned value)
{
    load(f, offsetof(struct seccomp_data, nr));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, (unsigned)call);
    load(f, offsetof(struct seccomp_data, args[0])); /* low half: little-endian only */
    emit(f, BPF_JMP | compare | BPF_K, 0, 1, value);
    emit(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM);
}

static void refuse_flags(struct filter *f, unsigned flags)
{
    refuse_arg(f, __NR_clone, BPF_JSET, flags);
    refuse_arg(f, __NR_unshare, BPF_JSET, flags);
    refuse(f, __NR_clone3, ENOSYS);
}

/* Calls with a mode among their arguments; a call with flags makes a file if they have O_CREAT. */
static const struct {
    int call, mode, flags;
} makers[] = {
#ifdef __NR_open
    { __NR_chmod, 1, -1 },   { __NR_mkdir, 1, -1 },    { __NR_mknod, 1, -1 },
    { __NR_creat, 1, -1 },   { __NR_open, 2, 1 },
#endif
    { __NR_fchmod, 1, -1 },  { __NR_fchmodat, 2, -1 }, { 452 /* fchmodat2 */, 2, -1 },
    { __NR_mkdirat, 2, -1 }, { __NR_mknodat, 2, -1 },  { __NR_openat, 3, 2 },
};

static void load_arg(struct filter *f, int number)
{
    load(f, offsetof(struct seccomp_data, args) + (size_t)number * sizeof(__u64));
}

static void refuse_suid_sgid(struct filter *f)
{
    for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
        bool makes = makers[i].flags >= 0;
        load(f, offsetof(struct seccomp_data, nr));
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, makes ? 5 : 3, (unsigned)makers[i].call);
        if (makes) {
            load_arg(f, makers[i].flags);
            emit(f, BPF_JMP | BPF_JSET | BPF_K, 0, 3, O_CREAT);
        }
        load_arg(f, makers[i].mode);
        emit(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, S_ISUID | S_ISGID);
        emit(f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM);
    }
    refuse(f, __NR_openat2, ENOSYS);
}

static void add_rule(struct filter *f, char *rule)
{
    if (strcmp(rule, "suid-sgid") == 0) {
        refuse_suid_sgid(f);
        return;
    }
    if (strcmp(rule, "namespaces") == 0) {
        refuse_flags(f, ANY_NAMESPACE);
        refuse(f, __NR_setns, EPERM);
        return;
    }
    if (strcmp(rule, "clone:newuser") == 0) {
        refuse_flags(f, CLONE_NEWUSER);
        return;
    }
    char *colon = strchr(rule, ':');
    if (colon != NULL)
        *colon++ = '\0';
    int call = NUMBER(calls, rule, "unknown system call");
    if (colon != NULL && call == __NR_prctl)
        refuse_arg(f, call, BPF_JEQ, (unsigned)NUMBER(errnos, colon, "not a prctl option"));
    else
        refuse(f, call, colon == NULL ? EPERM : NUMBER(errnos, colon, "unknown errno"));
}

static void install(const struct filter *f)
{
    struct sock_fprog program = { .len = f->len, .filter = (struct sock_filter *)f->code };
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        return;
    if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
        die("cannot install the filter", strerror(errno));
}

int main(int argc, char **argv)
{
    if (argc < 4 || strcmp(argv[2], "--") != 0)
        die("usage", "deny RULE[,RULE...] -- COMMAND [ARG...]");

    static struct filter f;
    load(&f, offsetof(struct seccomp_data, arch));
    emit(&f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NATIVE_ARCH);
    emit(&f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
    char *save = NULL;
    for (char *rule = strtok_r(argv[1], ",", &save); rule != NULL;
         rule = strtok_r(NULL, ",", &save))
        add_rule(&f, rule);
    emit(&f, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);

    install(&f);
    execvp(argv[3], argv + 3);
    die(argv[3], strerror(errno));
}
