/* Both ways to open a file beneath a directory, openat2(2) and steps, meet the same attacks. */
#include "base/descend.h"

#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mount.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "place.h"

enum { BENEATH = RESOLVE_BENEATH | RESOLVE_NO_XDEV, WALK = O_PATH, READ = O_RDONLY | O_NONBLOCK };
enum { TREE = O_RDONLY | O_DIRECTORY | O_NONBLOCK, SHOWN = O_ACCMODE | O_PATH | O_NONBLOCK };

/* top/ is where names begin; secret and out/ are beside it. */
static bool make_tree(const struct place *p)
{
    static const char *const dirs[] = { "out", "top", "top/d", "top/d/e" };
    static const char *const files[] = { "secret", "out/f", "top/f", "top/d/f", "top/d/e/f" };
    static const struct {
        const char *target, *name;
    } links[] = {
        { "f", "top/link" },
        { "../secret", "top/up" },
        { "d", "top/dir" },
        { "../out", "top/out" },
        { "/etc", "top/etc" },
        { "/etc/passwd", "top/passwd" },
        { "loop", "top/loop" },
        { "nowhere", "top/gone" },
        { "../../../secret", "top/d/e/up" },
        { "/proc/self/cwd", "top/cwd" },
    };
    bool made = true;
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        made = made && mkdirat(p->fd, dirs[i], 0755) == 0;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        autoclose int fd = openat(p->fd, files[i], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        made = made && fd >= 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        made = made && symlinkat(links[i].target, p->fd, links[i].name) == 0;
    return CHECK(made && mkfifoat(p->fd, "top/fifo", 0644) == 0);
}

static int open_top(const struct place *p)
{
    return openat(p->fd, "top", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_same(int a, int b)
{
    struct stat one, other;
    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* The same file, or the same error, which is `error` unless that is 0. */
static void both(int top, const char *path, int flags, uint64_t resolve, int error)
{
    errno = 0;
    autoclose int kernel = descend_open(top, path, flags, resolve);
    int of_kernel = kernel < 0 ? errno : 0;
    autoclose int steps = descend_in_steps(top, path, flags, resolve);
    int of_steps = steps < 0 ? errno : 0;
    if (!CHECK_INT(of_kernel, error) || !CHECK_INT(of_steps, error))
        printf("    '%s' with flags %o, resolve %llx\n", path, (unsigned)flags,
               (unsigned long long)resolve);
    CHECK(error || (kernel >= 0 && steps >= 0 && is_same(kernel, steps)));
    CHECK(steps < 0 || fcntl(steps, F_GETFD) == FD_CLOEXEC);
    CHECK(steps < 0 || ((fcntl(steps, F_GETFL) ^ fcntl(kernel, F_GETFL)) & SHOWN) == 0);
}

static const struct {
    const char *path;
    int flags;
    uint64_t resolve;
    int error;
} cases[] = {
    /* files and directories */
    { "f", READ, BENEATH, 0 },
    { "d/e/f", READ, BENEATH, 0 },
    { "./d//e/./f", READ, BENEATH, 0 },
    { ".", TREE, BENEATH, 0 },
    { "./", TREE, BENEATH, 0 },
    { "d/e/", TREE, BENEATH, 0 },
    { "d/.", WALK, BENEATH, 0 },
    { "d", WALK | O_DIRECTORY, BENEATH, 0 },
    { "f", WALK, 0, 0 },
    { "fifo", READ, BENEATH, 0 },
    { "/usr/bin", WALK, 0, 0 },
    { "/usr/bin", WALK | O_DIRECTORY, 0, 0 },
    { "/", WALK, 0, 0 },
    /* not there, or of another kind */
    { "", READ, BENEATH, ENOENT },
    { "none", READ, BENEATH, ENOENT },
    { "none/f", READ, BENEATH, ENOENT },
    { "f/x", READ, BENEATH, ENOTDIR },
    { "f/", READ, BENEATH, ENOTDIR },
    { "f/.", READ, BENEATH, ENOTDIR },
    { "f", TREE, BENEATH, ENOTDIR },
    { "d", O_WRONLY | O_NONBLOCK, BENEATH, EISDIR },
    /* links, at the end and in between */
    { "link", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "link", READ, BENEATH, ELOOP },
    { "link", WALK, 0, ELOOP },
    { "link/", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "up", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "d/e/up", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "dir", TREE, BENEATH, ELOOP },
    { "dir", WALK | O_DIRECTORY, 0, ELOOP },
    { "dir/f", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "dir/", TREE, BENEATH, ELOOP },
    { "dir/.", TREE, BENEATH, ELOOP },
    { "out/f", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "etc/passwd", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "etc/passwd", WALK, 0, ELOOP },
    { "passwd", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "loop", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "gone", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "cwd/f", READ | O_NOFOLLOW, BENEATH, ELOOP },
    { "/proc/self/cwd", WALK, 0, ELOOP },
    { "/proc/self/fd/0", WALK, 0, ELOOP },
    { "/proc/thread-self/root/etc", WALK, 0, ELOOP },
    /* ways out */
    { "/etc/passwd", READ | O_NOFOLLOW, BENEATH, EXDEV },
    { "/", TREE, BENEATH, EXDEV },
    { "..", TREE, BENEATH, EXDEV },
    { "../secret", READ | O_NOFOLLOW, BENEATH, EXDEV },
    { "d/../../secret", READ | O_NOFOLLOW, BENEATH, EXDEV },
};

static void test_both_ways_give_the_same_answers(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    autoclose int top = make_tree(&p) ? open_top(&p) : -1;
    int before = open_fds();
    for (size_t i = 0; CHECK(top >= 0) && i < ARRAY_LEN(cases); i++)
        both(top, cases[i].path, cases[i].flags, cases[i].resolve, cases[i].error);
    CHECK_INT(open_fds(), before);
    place_done(&p);
}

static void test_steps_refuse_every_way_up(void)
{
    struct place p;
    static const char *const ways[] = { "d/..", "d/../f", "d/e/../f", "/usr/../etc" };
    if (!place_init(&p))
        return;
    autoclose int top = make_tree(&p) ? open_top(&p) : -1;
    for (size_t i = 0; CHECK(top >= 0) && i < ARRAY_LEN(ways); i++) {
        autoclose int fd = descend_in_steps(top, ways[i], WALK, 0);
        CHECK(fd < 0 && errno == EXDEV);
    }
    place_done(&p);
}

static void test_names_are_as_long_as_the_kernel_allows(void)
{
    struct place p;
    char name[300];
    if (!place_init(&p))
        return;
    autoclose int top = make_tree(&p) ? open_top(&p) : -1;
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    both(top, name, READ, BENEATH, ENOENT);
    CHECK(mkdirat(top, name, 0755) == 0);
    both(top, name, TREE, BENEATH, 0);
    name[255] = 'n';
    name[256] = '\0';
    both(top, name, READ, BENEATH, ENAMETOOLONG);
    place_done(&p);
}

/* A mount of the same file system has the same device number, and is another mount all the same. */
static void meet_mounts(void *place)
{
    const struct place *p = place;
    char from[300], at[300];
    (void)snprintf(from, sizeof from, "%s/out", p->path);
    (void)snprintf(at, sizeof at, "%s/top/d/e", p->path);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(from, at, NULL, MS_BIND, NULL) < 0)
        return SKIP("no mount can be made here");
    autoclose int top = open(p->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    both(top, "top/d/e/f", READ, BENEATH, EXDEV);
    both(top, "top/d/e", TREE, BENEATH, EXDEV);
    both(top, "top/d/e", WALK | O_DIRECTORY, BENEATH, EXDEV);
    both(top, "top/d/e/f", READ, RESOLVE_BENEATH, 0);
    both(top, "top/d/f", READ, BENEATH, 0);
}

static void test_no_way_leads_into_another_mount(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    if (make_tree(&p))
        CHECK_INT(in_child(meet_mounts, &p), 0);
    place_done(&p);
}

/* ---- a program that changes the tree meanwhile ---- */

struct attack {
    int top;
    atomic_bool over;
    atomic_ulong swaps;
};

/* d/e is a directory, and a link to the outside, in turns. */
static void *swap(void *context)
{
    struct attack *a = context;
    while (!a->over) {
        (void)renameat2(a->top, "d/e", a->top, "out", RENAME_EXCHANGE);
        a->swaps++;
    }
    return NULL;
}

static void test_link_that_comes_and_goes_is_never_followed(void)
{
    enum { TRIES = 20000, SWAPS = 1000 };
    struct place p;
    pthread_t thread;
    unsigned long opened = 0, refused = 0;
    if (!place_init(&p))
        return;
    struct attack a = { .top = make_tree(&p) ? open_top(&p) : -1 };
    autoclose int outside = openat(p.fd, "out/f", O_PATH | O_CLOEXEC);
    CHECK(pthread_create(&thread, NULL, swap, &a) == 0);
    for (unsigned long i = 0; i < TRIES || a.swaps < SWAPS || !opened || !refused; i++) {
        autoclose int fd = (i % 2 ? descend_open : descend_in_steps)(a.top, "d/e/f",
                                                                     READ | O_NOFOLLOW, BENEATH);
        if (fd >= 0)
            opened++;
        else
            refused++;
        if (fd >= 0 && !CHECK(!is_same(fd, outside)))
            break;
    }
    a.over = true;
    CHECK(pthread_join(thread, NULL) == 0);
    fd_close(&a.top);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_both_ways_give_the_same_answers),
    TEST(test_steps_refuse_every_way_up),
    TEST(test_names_are_as_long_as_the_kernel_allows),
    TEST(test_no_way_leads_into_another_mount),
    TEST(test_link_that_comes_and_goes_is_never_followed),
};
CHECK_MAIN(tests)
