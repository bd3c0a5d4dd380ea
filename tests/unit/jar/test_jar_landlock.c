/* A domain is entered for good, so each test runs in a child. It tries the rules on files of its
 * own: a rule that does not hold does no harm to the machine. */
#include "jar/landlock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "check.h"
#include "child.h"
#include "jar/confine.h"
#include "place.h"

#define CHECK_DENIED(expr) CHECK((expr) < 0 && errno == EACCES)

static int try_open(const struct place *p, const char *name, int flags)
{
    int fd = openat(p->fd, name, flags | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    (void)close(fd);
    return 0;
}

/* in/ may be written, read/ read, device is a device; out/ is not named. */
static bool lay_out(struct place *p)
{
    if (!place_init(p))
        return false;
    return CHECK(mkdirat(p->fd, "in", 0777) == 0 && mkdirat(p->fd, "in/sub", 0777) == 0 &&
                 mkdirat(p->fd, "read", 0755) == 0 && mkdirat(p->fd, "out", 0755) == 0) &&
           place_file(p, "in/file", "x", 0666) && place_file(p, "read/file", "x", 0666) &&
           place_file(p, "out/secret", "x", 0666) && place_file(p, "device", "x", 0666) &&
           CHECK(symlinkat("../out/secret", p->fd, "in/link") == 0);
}

static bool enter(const struct place *p, uint32_t abi, bool deny_network)
{
    char in[300], read_only[300], device[300];
    struct err e = { 0 };
    (void)snprintf(in, sizeof in, "%s/in", p->path);
    (void)snprintf(read_only, sizeof read_only, "%s/read", p->path);
    (void)snprintf(device, sizeof device, "%s/device", p->path);
    const struct landlock_rule rules[] = {
        { "/usr", LANDLOCK_READ, false },
        { read_only, LANDLOCK_READ, false },
        { in, LANDLOCK_WRITE, false },
        { device, LANDLOCK_DEVICE, false },
        { "/nowhere/at/all", LANDLOCK_WRITE, true },
        { NULL, 0, false },
    };
    bool entered = CHECK_INT(confine_no_new_privs(&e), 0) &&
                   CHECK_INT(landlock_apply(abi, rules, deny_network, &e), 0);
    if (!entered)
        printf("    %s\n", e.text);
    return entered;
}

static void in_place(void (*f)(void *), const char *why_not)
{
    struct place p;
    if (landlock_abi() == 0 || why_not)
        return SKIP(why_not ? why_not : "this kernel has no Landlock");
    if (lay_out(&p))
        CHECK_INT(in_child(f, &p), 0);
    place_done(&p);
}

static void outside_is_closed(void *place)
{
    const struct place *p = place;
    if (!enter(p, landlock_abi(), false))
        return;
    CHECK_DENIED(try_open(p, "out/secret", O_RDONLY));
    CHECK_DENIED(try_open(p, "out/secret", O_WRONLY));
    CHECK_DENIED(try_open(p, "out", O_RDONLY | O_DIRECTORY));
    CHECK_DENIED(try_open(p, "out/new", O_WRONLY | O_CREAT));
    CHECK_DENIED(
        try_open(p, "in/link", O_RDONLY)); /* a link leads no further than its maker may go */
    CHECK_DENIED(try_open(p, "/etc/passwd", O_RDONLY));
    CHECK_DENIED(try_open(p, "/proc/self/status", O_RDONLY));
    CHECK_DENIED(try_open(p, "/", O_RDONLY | O_DIRECTORY));
    CHECK_DENIED(unlinkat(p->fd, "out/secret", 0));
    CHECK_DENIED(mkdirat(p->fd, "out/dir", 0755));
    CHECK(linkat(p->fd, "out/secret", p->fd, "in/stolen", 0) < 0);
    CHECK(renameat(p->fd, "out/secret", p->fd, "in/stolen") < 0);
    CHECK(renameat(p->fd, "in/file", p->fd, "out/left") < 0);
}

static void test_what_no_rule_names_is_closed(void)
{
    in_place(outside_is_closed, NULL);
}

static void read_only_is_read_only(void *place)
{
    const struct place *p = place;
    if (!enter(p, landlock_abi(), false))
        return;
    CHECK_INT(try_open(p, "read/file", O_RDONLY), 0);
    CHECK_INT(try_open(p, "read", O_RDONLY | O_DIRECTORY), 0);
    CHECK_INT(try_open(p, "/usr/bin/true", O_RDONLY), 0);
    CHECK_DENIED(try_open(p, "read/file", O_WRONLY));
    CHECK_DENIED(try_open(p, "read/new", O_WRONLY | O_CREAT));
    CHECK_DENIED(unlinkat(p->fd, "read/file", 0));
    char path[300];
    (void)snprintf(path, sizeof path, "%s/read/file", p->path);
    if (landlock_abi() >= 3)
        CHECK_DENIED(truncate(path, 0));
}

static void test_what_is_named_for_reading_is_read_only(void)
{
    in_place(read_only_is_read_only, NULL);
}

static void inside_is_free(void *place)
{
    const struct place *p = place;
    if (!enter(p, landlock_abi(), false))
        return;
    CHECK_INT(try_open(p, "in/file", O_RDWR | O_TRUNC), 0);
    CHECK_INT(try_open(p, "in/new", O_WRONLY | O_CREAT), 0);
    CHECK_INT(try_open(p, "in", O_RDONLY | O_DIRECTORY), 0);
    CHECK_INT(mkdirat(p->fd, "in/dir", 0755), 0);
    CHECK_INT(symlinkat("/anywhere", p->fd, "in/sym"), 0);
    CHECK_INT(mkfifoat(p->fd, "in/fifo", 0600), 0);
    CHECK_INT(renameat(p->fd, "in/new", p->fd, "in/newer"), 0);
    if (landlock_abi() >= 2)
        CHECK_INT(renameat(p->fd, "in/newer", p->fd, "in/sub/newer"), 0);
    CHECK_INT(unlinkat(p->fd, "in/dir", AT_REMOVEDIR), 0);
    CHECK_INT(unlinkat(p->fd, "in/file", 0), 0);
    CHECK(mknodat(p->fd, "in/null", S_IFCHR | 0666, 0x103) < 0); /* no device, not even by root */
    CHECK(mknodat(p->fd, "in/disk", S_IFBLK | 0666, 0x700) < 0);
}

static void test_what_is_named_for_writing_is_free_but_for_devices(void)
{
    in_place(inside_is_free, NULL);
}

static void device_is_used_not_replaced(void *place)
{
    const struct place *p = place;
    if (!enter(p, landlock_abi(), false))
        return;
    CHECK_INT(try_open(p, "device", O_RDWR), 0);
    CHECK_INT(try_open(p, "device", O_WRONLY | O_TRUNC), 0);
    CHECK_DENIED(unlinkat(p->fd, "device", 0));
}

static void test_device_is_read_and_written_but_not_replaced(void)
{
    in_place(device_is_used_not_replaced, NULL);
}

static void execution_follows_the_rules(void *place)
{
    const struct place *p = place;
    char *argv[] = { (char *)"true", NULL }, *envp[] = { NULL };
    if (!enter(p, landlock_abi(), false))
        return;
    CHECK(execveat(p->fd, "out/secret", argv, envp, 0) < 0 && errno == EACCES);
    (void)execve("/usr/bin/true", argv, envp);
    CHECK(!"/usr/bin/true did not start");
}

static void test_programs_start_from_what_may_be_read(void)
{
    in_place(execution_follows_the_rules, NULL);
}

static int try_exec(const struct place *p, const char *name)
{
    char *argv[] = { (char *)"x", NULL }, *envp[] = { NULL }, path[300];
    (void)snprintf(path, sizeof path, "%s/%s", p->path, name);
    pid_t pid = fork();
    if (pid == 0) {
        (void)execve(path, argv, envp);
        _exit(errno);
    }
    return child_wait(pid);
}

static void data_is_not_executed(void *place)
{
    const struct place *p = place;
    struct err e = { 0 };
    char in[300], read_only[300], out[300];
    (void)snprintf(in, sizeof in, "%s/in", p->path);
    (void)snprintf(read_only, sizeof read_only, "%s/read", p->path);
    (void)snprintf(out, sizeof out, "%s/out", p->path);
    const struct landlock_rule rules[] = {
        { "/usr", LANDLOCK_READ, false },          { read_only, LANDLOCK_READ_DATA, false },
        { in, LANDLOCK_WRITE_DATA, false },        { out, LANDLOCK_LIST, false },
        { "/usr/bin", LANDLOCK_READ_DATA, false }, { NULL, 0, false },
    };
    CHECK(place_file(p, "in/run", "#!/usr/bin/true\n", 0755) &&
          place_file(p, "read/run", "#!/usr/bin/true\n", 0755));
    CHECK_INT(try_exec(p, "in/run"), 0);
    if (!CHECK_INT(confine_no_new_privs(&e), 0) ||
        !CHECK_INT(landlock_apply(landlock_abi(), rules, false, &e), 0))
        return;
    CHECK_INT(try_exec(p, "in/run"), EACCES);
    CHECK_INT(try_exec(p, "read/run"), EACCES);
    CHECK_INT(try_open(p, "read/run", O_RDONLY), 0);
    CHECK_INT(try_open(p, "in/run", O_RDWR), 0);
    CHECK_INT(try_open(p, "in/new", O_WRONLY | O_CREAT), 0);
    CHECK_INT(try_open(p, "out", O_RDONLY | O_DIRECTORY), 0);
    CHECK_DENIED(try_open(p, "out/secret", O_RDONLY));
}

static void test_data_is_read_and_written_but_not_executed(void)
{
    in_place(data_is_not_executed, NULL);
}

static void every_abi(void *place)
{
    const struct place *p = place;
    for (uint32_t abi = 1; abi <= landlock_abi(); abi++) {
        pid_t pid = fork();
        if (pid == 0) {
            check_failures = 0;
            if (enter(p, abi, true))
                CHECK_DENIED(try_open(p, "out/secret", O_RDONLY));
            _exit(check_failures > 0);
        }
        CHECK_INT(child_wait(pid), 0);
    }
}

static void test_older_versions_of_landlock_hold_as_well(void)
{
    in_place(every_abi, NULL);
}

static void network_and_signals(void *place)
{
    struct sockaddr_in nobody = { .sin_family = AF_INET, .sin_port = htons(9) };
    struct sockaddr_un abstract = { .sun_family = AF_UNIX, .sun_path = "" };
    nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    autoclose int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(abstract.sun_path + 1, sizeof abstract.sun_path - 1, "unit-test-%d",
                   (int)getpid());
    CHECK(bind(listener, (struct sockaddr *)&abstract, sizeof abstract) == 0 &&
          listen(listener, 1) == 0);
    if (!enter(place, landlock_abi(), true))
        return;
    autoclose int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (tcp >= 0 && landlock_abi() >= 4)
        CHECK_DENIED(connect(tcp, (struct sockaddr *)&nobody, sizeof nobody));
    if (landlock_abi() < 6)
        return;
    CHECK(kill(getppid(), 0) < 0 && errno == EPERM);
    autoclose int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(client, (struct sockaddr *)&abstract, sizeof abstract) < 0 && errno == EPERM);
}

static void test_network_signals_and_abstract_sockets_stay_inside(void)
{
    in_place(network_and_signals,
             landlock_abi() < 4 ? "this kernel's Landlock knows no network" : NULL);
}

static void missing_path(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    const struct landlock_rule rules[] = { { "/nowhere/at/all", LANDLOCK_READ, false },
                                           { NULL, 0, false } };
    CHECK_INT(confine_no_new_privs(&e), 0);
    CHECK_INT(landlock_apply(landlock_abi(), rules, false, &e), -1);
    CHECK(strstr(e.text, "/nowhere/at/all") != NULL && e.sys == ENOENT);
}

static void test_missing_path_is_an_error_that_names_it(void)
{
    in_place(missing_path, NULL);
}

static const struct check_test tests[] = {
    TEST(test_data_is_read_and_written_but_not_executed),
    TEST(test_what_no_rule_names_is_closed),
    TEST(test_what_is_named_for_reading_is_read_only),
    TEST(test_what_is_named_for_writing_is_free_but_for_devices),
    TEST(test_device_is_read_and_written_but_not_replaced),
    TEST(test_programs_start_from_what_may_be_read),
    TEST(test_older_versions_of_landlock_hold_as_well),
    TEST(test_network_signals_and_abstract_sockets_stay_inside),
    TEST(test_missing_path_is_an_error_that_names_it),
};
CHECK_MAIN(tests)
