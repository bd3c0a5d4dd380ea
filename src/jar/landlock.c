#include "jar/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"

/* The headers of Debian 12 know only ABI 2, the kernel may know more. The layout is from its
 * documentation. */
struct ruleset_attr {
    uint64_t access_fs;  /* ABI 1 */
    uint64_t access_net; /* ABI 4 */
    uint64_t scoped;     /* ABI 6 */
};
struct path_rule {
    uint64_t access;
    int32_t fd;
} __attribute__((packed));

enum { RULE_PATH_BENEATH = 1, CREATE_RULESET_VERSION = 1 };

#define FS_EXECUTE    (1ULL << 0)
#define FS_WRITE_FILE (1ULL << 1)
#define FS_READ_FILE  (1ULL << 2)
#define FS_READ_DIR   (1ULL << 3)
#define FS_ABI1       ((1ULL << 13) - 1) /* READ, and to make and remove every kind of file */
#define FS_REFER      (1ULL << 13)       /* ABI 2: rename or link between directories */
#define FS_TRUNCATE   (1ULL << 14)       /* ABI 3 */
#define FS_IOCTL_DEV  (1ULL << 15)       /* ABI 5 */
#define FS_MAKE_CHAR  (1ULL << 6)
#define FS_MAKE_BLOCK (1ULL << 11)
/* The rights that a file other than a directory can have. */
#define FS_FILE       (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

#define NET_ALL   3ULL /* TCP bind and connect */
#define SCOPE_ALL 3ULL /* abstract unix sockets, signals */

static const uint64_t allowed[] = {
    [LANDLOCK_READ] = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR,
    [LANDLOCK_WRITE] = (FS_ABI1 | FS_REFER | FS_TRUNCATE) & ~(FS_MAKE_CHAR | FS_MAKE_BLOCK),
    [LANDLOCK_DEVICE] = FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
    [LANDLOCK_READ_DATA] = FS_READ_FILE | FS_READ_DIR,
    [LANDLOCK_WRITE_DATA] = (FS_ABI1 | FS_REFER | FS_TRUNCATE) &
                            ~(FS_MAKE_CHAR | FS_MAKE_BLOCK | FS_EXECUTE),
    [LANDLOCK_LIST] = FS_READ_DIR,
};

uint32_t landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
    return abi > 0 ? (uint32_t)abi : 0;
}

static uint64_t known_fs(uint32_t abi)
{
    uint64_t known = FS_ABI1;
    known |= abi >= 2 ? FS_REFER : 0;
    known |= abi >= 3 ? FS_TRUNCATE : 0;
    known |= abi >= 5 ? FS_IOCTL_DEV : 0;
    return known;
}

static int add_rule(int ruleset, uint64_t known, const struct landlock_rule *r, struct err *e)
{
    autoclose int fd = open(r->path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        if (r->optional && (errno == ENOENT || errno == EACCES))
            return 0;
        return err_set(e, ERR_KERNEL, errno, "open %s for a Landlock rule", r->path);
    }
    struct path_rule rule = { .access = allowed[r->access] & known, .fd = fd };
    if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0)
        return 0;
    /* a right for directories on a plain file gives EINVAL */
    rule.access &= FS_FILE;
    if (errno != EINVAL || syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "add a Landlock rule for %s", r->path);
    return 0;
}

int landlock_apply(uint32_t abi, const struct landlock_rule *rules, bool deny_network,
                   struct err *e)
{
    struct ruleset_attr attr = { .access_fs = known_fs(abi) };
    size_t size = offsetof(struct ruleset_attr, access_net);
    if (abi >= 4) {
        attr.access_net = deny_network ? NET_ALL : 0;
        size = offsetof(struct ruleset_attr, scoped);
    }
    if (abi >= 6) {
        attr.scoped = SCOPE_ALL;
        size = sizeof attr;
    }
    autoclose int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (ruleset < 0)
        return err_set(e, ERR_KERNEL, errno, "make a Landlock ruleset");
    for (; rules->path; rules++)
        if (add_rule(ruleset, attr.access_fs, rules, e))
            return -1;
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "enter the Landlock domain");
    return 0;
}
