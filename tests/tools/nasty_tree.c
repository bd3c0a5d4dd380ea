/* nasty_tree: the hardest tree to clear away. Only ever run it inside a jar.
 *
 *     nasty_tree LEVELS
 *
 * Fills the disk, digs a directory LEVELS deep in the working directory, prints its results in one
 * line, and then forks without end: every process ignores all signals it may, is the leader of its
 * own session, and every third one is stopped, every third one waits in vfork for a child that
 * never ends. It refuses to start where it is not confined, so that a slip of the hand costs no
 * machine. / */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void ignore_everything(void)
{
    for (int n = 1; n < NSIG; n++)
        signal(n, SIG_IGN);
}

/* True once the disk said that it is full. */
static int fill_disk(void)
{
    static char block[64 * 1024];
    memset(block, 'x', sizeof block);
    int fd = open("fill", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return 0;
    for (;;) {
        ssize_t n = write(fd, block, sizeof block);
        if (n < 0 && errno != EINTR)
            return errno == ENOSPC || errno == EDQUOT;
    }
}

/* Landlock looks at every directory above a new one, so digging straight down takes time with the
 * square of the depth. A short shaft is dug each time, and the tree so far is hung below it. */
static long dig(long levels)
{
    enum { SHAFT = 250 };
    long depth = 0;
    int top = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (top >= 0 && depth < levels) {
        if (mkdir("shaft", 0700) != 0 || chdir("shaft") != 0)
            break;
        for (int i = 1; i < SHAFT; i++)
            if (mkdir("d", 0700) != 0 || chdir("d") != 0)
                return depth;
        if (depth > 0 && renameat(top, "deep", AT_FDCWD, "d") != 0)
            break;
        if (fchdir(top) != 0 || rename("shaft", "deep") != 0)
            break;
        depth += SHAFT;
    }
    return depth;
}

static void linger(unsigned n)
{
    if (n % 3 == 1)
        raise(SIGSTOP);
    if (n % 3 == 2) {
        pid_t child = vfork(); /* NOLINT: the parent shall hang in vfork */
        if (child == 0)
            for (;;)
                pause();
    }
}

static void bomb(void)
{
    for (unsigned n = 0;; n++) {
        pid_t child = fork();
        if (child == 0) {
            ignore_everything();
            (void)setsid();
            linger(n);
        }
    }
}

int main(int argc, char **argv)
{
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2 || getuid() == 0) {
        fputs("nasty_tree: not confined; refusing to run\n", stderr);
        return 98;
    }
    long levels = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    ignore_everything();
    int full = fill_disk();
    long depth = dig(levels);
    printf("READY depth=%ld full=%d\n", depth, full);
    fflush(stdout);
    bomb();
}
