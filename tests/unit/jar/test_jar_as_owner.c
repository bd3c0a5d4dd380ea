/* The effective uid that owns the namespaces of jars: its rights, and the rights that others do not get. */
#include "jar/as_owner.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "place.h"

enum { OWNER = OWN_UIDS_FIRST + 1, OF_A_JAR = OWN_UIDS_FIRST + 2 };

static const struct jar_host host = { .own_uid = 0, .zygote_uid = OWNER };

/* As the unit of systemd leaves them, with the bit that jar_host_open() sets. */
static void become_warden(void)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct set[2] = { 0 };
    set[0].permitted = set[0].effective = 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_SETPCAP |
                                          1U << CAP_SYS_ADMIN | 1U << CAP_KILL;
    CHECK_INT(prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0), 0);
    CHECK_INT(syscall(SYS_capset, &head, set), 0);
}

static void map(pid_t pid, const char *file, const char *text)
{
    char path[64];
    struct err e = { 0 };
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    if (!CHECK_INT(fd_write_file(AT_FDCWD, path, text, &e), 0))
        printf("    %s\n", e.text);
}

/* A process as in a jar: its namespaces belong to the owner, and it has a uid of its own. */
static pid_t start_jar(int cgroup_fd, int *ret_pidfd)
{
    int up[2] = { -1, -1 }, go[2] = { -1, -1 };
    char text[32], byte = 0;
    struct err e = { 0 };
    (void)snprintf(text, sizeof text, "1000 %u 1", (unsigned)OF_A_JAR);
    CHECK(fd_pipe(up, &e) == 0 && fd_pipe(go, &e) == 0);
    pid_t pid = as_owner_clone(&host, CLONE_NEWUSER | CLONE_NEWNET, cgroup_fd, ret_pidfd, &e);
    if (pid == 0) {
        bool made = read(go[0], &byte, 1) == 1 && setresgid(1000, 1000, 1000) == 0 &&
                    setresuid(1000, 1000, 1000) == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 &&
                    fd_write_file(AT_FDCWD, "/proc/self/oom_score_adj", "1000", &e) == 0;
        (void)!write(up[1], made ? "y" : "n", 1);
        (void)pause();
        _exit(0);
    }
    if (!CHECK(pid > 0)) {
        printf("    %s\n", e.text);
        return -1;
    }
    map(pid, "setgroups", "deny");
    map(pid, "uid_map", text);
    map(pid, "gid_map", text);
    as_owner_end(&host);
    CHECK(write(go[1], "", 1) == 1 && read(up[0], &byte, 1) == 1 && byte == 'y');
    for (int i = 0; i < 2; i++) {
        (void)close(up[i]);
        (void)close(go[i]);
    }
    return pid;
}

static bool reads(pid_t pid, const char *file)
{
    char path[64], byte;
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && read(fd, &byte, 1) == 1;
}

static void reach_a_jar(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    char path[64];
    become_warden();
    autoclose int pidfd = -1;
    pid_t pid = start_jar(-1, &pidfd);
    (void)snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    /* root alone can no more */
    CHECK(setns(pidfd, CLONE_NEWNET) < 0 && errno == EPERM);
    autoclose int refused = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(refused < 0 && !reads(pid, "syscall"));
    /* the owner can */
    CHECK_INT(as_owner_begin(&host, &e), 0);
    autoclose int net = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(net >= 0 && !reads(pid, "syscall")); /* a file of the uid of the jar alone */
    as_owner_end(&host);
    CHECK_INT(as_owner_begin_looking(&host, OF_A_JAR, &e), 0);
    CHECK(reads(pid, "syscall"));
    as_owner_end(&host);
    CHECK_INT(as_owner_setns(&host, pidfd, CLONE_NEWNET), 0);
    CHECK(geteuid() == 0 && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1);
    CHECK(kill(pid, SIGKILL) == 0);
    (void)child_wait(pid);
}

static void test_owner_reaches_a_jar_and_root_alone_does_not(void)
{
    if (geteuid() != 0)
        return SKIP("only root has another uid");
    CHECK_INT(in_child(reach_a_jar, NULL), 0);
}

/* Its cgroup belongs to root, and no capability overrides that. */
static void start_in_a_cgroup(void *context)
{
    const int *cgroup_fd = context;
    char text[32];
    become_warden();
    autoclose int pidfd = -1;
    pid_t pid = start_jar(*cgroup_fd, &pidfd);
    if (pid < 0)
        return;
    CHECK(fd_read_file(*cgroup_fd, "cgroup.procs", text, sizeof text) > 0 &&
          strtol(text, NULL, 10) == pid);
    CHECK(geteuid() == 0 && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1);
    CHECK(kill(pid, SIGKILL) == 0);
    (void)child_wait(pid);
}

static void test_owner_makes_a_jar_in_a_cgroup_of_root(void)
{
    static const char *const places[] = { "/sys/fs/cgroup/cgroup.procs",
                                          "/sys/fs/cgroup/unified/cgroup.procs" };
    char path[96] = "";
    struct stat st;
    for (size_t i = 0; geteuid() == 0 && i < ARRAY_LEN(places); i++)
        if (stat(places[i], &st) == 0)
            (void)snprintf(path, sizeof path, "%.*sbelljar-test-%d",
                           (int)(strlen(places[i]) - strlen("cgroup.procs")), places[i],
                           (int)getpid());
    if (!path[0] || mkdir(path, 0755) < 0)
        return SKIP("no cgroup of version 2 can be made here");
    autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(in_child(start_in_a_cgroup, &fd), 0);
    CHECK_INT(rmdir(path), 0);
}

/* A zygote that a guest took over: the same uid as the effective one of the warden. */
static void attack(void *warden)
{
    pid_t pid = *(const pid_t *)warden;
    char path[64];
    CHECK(setresgid(OWNER, OWNER, OWNER) == 0 && setresuid(OWNER, OWNER, OWNER) == 0);
    CHECK(kill(pid, 0) < 0 && errno == EPERM);
    CHECK(ptrace(PTRACE_SEIZE, pid, 0, 0) < 0 && errno == EPERM);
    CHECK(!reads(pid, "mem") && !reads(pid, "environ") && !reads(pid, "syscall"));
    (void)snprintf(path, sizeof path, "/proc/%d/fd/0", (int)pid);
    CHECK(open(path, O_RDONLY | O_CLOEXEC) < 0);
    autoclose int pidfd = pidfd_open(pid, 0);
    CHECK(syscall(SYS_pidfd_getfd, pidfd, 0, 0) < 0 && errno == EPERM);
    CHECK(setns(pidfd, CLONE_NEWNET) < 0);
}

static void act_and_be_attacked(void *dumpable)
{
    struct err e = { 0 };
    pid_t own = getpid();
    int up[2];
    char byte;
    CHECK_INT(fd_pipe(up, &e), 0);
    pid_t zygote = fork();
    if (zygote == 0) { /* begins when the warden has that uid */
        (void)close(up[1]);
        (void)!read(up[0], &byte, 1);
        check_failures = 0;
        attack(&own);
        (void)fflush(stdout);
        _exit(check_failures > 0);
    }
    CHECK_INT(as_owner_begin(&host, &e), 0);
    CHECK(geteuid() == OWNER && getuid() == 0);
    if (dumpable)
        CHECK_INT(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
    (void)close(up[1]);
    CHECK_INT(child_wait(zygote), 0);
    as_owner_end(&host);
    CHECK(geteuid() == 0);
}

static void test_zygote_has_no_right_over_a_warden_that_acts_as_the_owner(void)
{
    int dumpable = 1;
    if (geteuid() != 0)
        return SKIP("only root has another uid");
    CHECK_INT(in_child(act_and_be_attacked, NULL), 0);
    CHECK_INT(in_child(act_and_be_attacked, &dumpable), 0);
}

static const struct check_test tests[] = {
    TEST(test_owner_reaches_a_jar_and_root_alone_does_not),
    TEST(test_owner_makes_a_jar_in_a_cgroup_of_root),
    TEST(test_zygote_has_no_right_over_a_warden_that_acts_as_the_owner),
};
CHECK_MAIN(tests)
