/* A process cannot take capabilities back, so each test runs in a child. */
#include "base/caps.h"

#include <linux/capability.h>
#include <sys/syscall.h>

#include "check.h"
#include "child.h"
#include "place.h"

/* The hexadecimal number behind a field such as "CapEff:" of our status. */
static uint64_t status_field(const char *field)
{
    char text[4096];
    if (!CHECK(fd_read_file(AT_FDCWD, "/proc/self/status", text, sizeof text) > 0))
        return UINT64_MAX;
    const char *at = strstr(text, field);
    return CHECK(at != NULL) ? strtoull(at + strlen(field), NULL, 16) : UINT64_MAX;
}

static void drop_all(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    bool root = geteuid() == 0;
    CHECK_INT(caps_drop_bounding(&e), 0);
    CHECK_INT(caps_clear(0, &e), 0);
    CHECK(status_field("CapInh:") == 0 && status_field("CapPrm:") == 0);
    CHECK(status_field("CapEff:") == 0 && status_field("CapAmb:") == 0);
    if (root) {
        CHECK(status_field("CapBnd:") == 0);
        CHECK(chroot("/") < 0 && errno == EPERM);
        CHECK(setresuid(OWN_UIDS_FIRST, OWN_UIDS_FIRST, OWN_UIDS_FIRST) < 0);
    }
    CHECK_INT(caps_drop_bounding(&e), 0); /* nothing left is no error */
    CHECK_INT(caps_clear(0, &e), 0);
}

static void test_no_capability_is_left_in_any_set(void)
{
    CHECK_INT(in_child(drop_all, NULL), 0);
}

static void keep_one(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    CHECK_INT(caps_drop_bounding(&e), 0);
    CHECK_INT(caps_clear(1ULL << CAP_AUDIT_WRITE, &e), 0);
    CHECK(status_field("CapPrm:") == 1ULL << CAP_AUDIT_WRITE);
    CHECK(status_field("CapEff:") == 0 && status_field("CapInh:") == 0);
    CHECK(status_field("CapBnd:") == 0 && status_field("CapAmb:") == 0);
}

static void test_capability_that_is_kept_lies_idle(void)
{
    if (geteuid() != 0)
        return SKIP("only root has a capability to keep");
    CHECK_INT(in_child(keep_one, NULL), 0);
}

static void keep_what_we_lack(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    CHECK_INT(caps_clear(0, &e), 0);
    CHECK_INT(caps_clear(1ULL << CAP_AUDIT_WRITE, &e), -1); /* no warning: an error */
    CHECK_INT(e.code, ERR_KERNEL);
}

static void test_capabilities_that_cannot_be_set_are_an_error(void)
{
    CHECK_INT(in_child(keep_what_we_lack, NULL), 0);
}

static void ambient(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2];
    CHECK_INT(syscall(SYS_capget, &head, data), 0);
    data[0].inheritable = data[0].permitted;
    CHECK_INT(syscall(SYS_capset, &head, data), 0);
    CHECK_INT(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0), 0);
    CHECK(status_field("CapAmb:") != 0 && status_field("CapInh:") != 0);
    CHECK_INT(caps_clear(0, &e), 0);
    CHECK(status_field("CapAmb:") == 0 && status_field("CapInh:") == 0);
}

static void test_ambient_and_inherited_capabilities_go_too(void)
{
    if (geteuid() != 0)
        return SKIP("only root has a capability to pass on");
    CHECK_INT(in_child(ambient, NULL), 0);
}

static const struct check_test tests[] = {
    TEST(test_no_capability_is_left_in_any_set),
    TEST(test_capability_that_is_kept_lies_idle),
    TEST(test_capabilities_that_cannot_be_set_are_an_error),
    TEST(test_ambient_and_inherited_capabilities_go_too),
};
CHECK_MAIN(tests)
