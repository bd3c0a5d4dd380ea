/* A process with state of every kind that an image carries.
 *   image_probe write FILE MEGABYTES     writes an image of itself; then prints its own state
 *   image_probe become FILE [BASE]...    becomes the image, which prints its state
 *   image_probe inside FILE [BASE]...    the same after a use of much memory: the layouts differ
 * The report of the writer goes to stdout, too. Then the process obeys lines of its stdin:
 *   image FILE [BASE]...                 writes another image; then prints a digest of its memory
 *   set PAGE COUNT STEP VALUE            writes to COUNT pages of its memory
 *   digest                               prints it
 *   copy BYTES                           the time to copy them into new memory, in microseconds
 * A line of a process that became an image goes on with the state of the image. */
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "image/image.h"

static int counter = 41;
static _Thread_local int of_thread = 7;
/* Pages of the program's file that the writer never touches. A process that becomes the image has
 * private copies of them. */
enum { IDLE = 32 * 4096 };
static volatile char idle[2 * IDLE] = { 1 };
static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

/* Deep enough that the stack grows, also in the process that became the image. */
static int deep(int n)
{
    char block[4096];
    memset(block, n, sizeof block);
    return n == 0 ? 0 : deep(n - 1) + (block[17] == (char)n);
}

static unsigned long sum(const unsigned char *bytes, size_t n)
{
    unsigned long all = 0;
    for (size_t i = 0; i < n; i += 4096)
        all += bytes[i];
    return all;
}

static struct {
    unsigned char *bytes;
    size_t n;
    char *text, *locked;
    int *shared;
} state;

static void print_state(const char *who)
{
    struct timespec now;
    char *more = malloc(3 << 20), *small = malloc(100);
    memset(more, 1, 3 << 20);
    (void)snprintf(small, 100, "%d", deep(500));
    (void)raise(SIGUSR1);
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* by the code of the kernel in this process */
    mode_t mask = umask(0);
    (void)umask(mask);
    printf("%s sum=%lu text=%s counter=%d thread=%d shared=%d locked=%s deep=%s caught=%d umask=%o "
           "rounding=%d time=%d idle=%d\n",
           who, sum(state.bytes, state.n), state.text, counter, of_thread, *state.shared,
           state.locked, small, caught, (unsigned)mask, fegetround() == FE_UPWARD, now.tv_sec > 0,
           idle[IDLE]);
    (void)fflush(stdout);
    free(more);
    free(small);
}

static void print_digest(const char *who)
{
    uint64_t digest = 0xcbf29ce484222325;
    for (size_t i = 0; i < state.n; i += sizeof digest) {
        uint64_t word;
        memcpy(&word, state.bytes + i, sizeof word);
        digest = (digest ^ word) * 0x100000001b3;
    }
    printf("%s %016llx\n", who, (unsigned long long)digest);
    (void)fflush(stdout);
}

static struct image_bases open_bases(char *const names[])
{
    struct image_bases bases = { 0 };
    for (; *names && bases.n < IMAGE_BASES_MAX; names++)
        bases.fds[bases.n++] = open(*names, O_RDONLY | O_CLOEXEC);
    return bases;
}

/* 0: the original goes on; 1: this process became the image; -1: refused. */
static int write_image(const char *file, char *const base_names[])
{
    static char why[IMAGE_WHY];
    static struct image_written w;
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct image_bases bases = open_bases(base_names);
    if (fd < 0 || image_write(fd, 5000, UINT64_MAX, 1, &bases, &w, why)) {
        fprintf(stderr, "refused: %s\n", why);
        return -1;
    }
    if (!w.became) {
        counter = 1000; /* the image does not see it */
        while (!image_reap(w.writer))
            (void)usleep(1000);
        (void)close(fd);
        for (size_t i = 0; i < bases.n; i++)
            (void)close(bases.fds[i]);
    }
    caught = 0;
    return w.became ? (int)(w.cookie != 12345) + 1 : 0;
}

/* ---- the lines of stdin ---- */

static bool read_line(char *line, size_t size)
{
    size_t n = 0;
    while (n + 1 < size && read(0, line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = '\0';
    return n > 0;
}

static void set_pages(char *const args[])
{
    size_t page = strtoul(args[1], NULL, 10), count = strtoul(args[2], NULL, 10),
           step = strtoul(args[3], NULL, 10);
    int value = (int)strtol(args[4], NULL, 10);
    for (size_t i = 0; i < count && (page + 1) << 12 <= state.n; i++, page += step)
        memset(state.bytes + (page << 12), value, 4096);
}

/* As fast as memory can be copied into a new file in memory. */
static void time_copy(size_t bytes)
{
    uint64_t began_us = clock_us();
    int fd = memfd_create("copy", MFD_CLOEXEC);
    char *to = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0
                   ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                   : MAP_FAILED;
    if (to != MAP_FAILED)
        memcpy(to, state.bytes, bytes < state.n ? bytes : state.n);
    printf("copied %llu\n", (unsigned long long)(clock_us() - began_us));
    (void)fflush(stdout);
    (void)close(fd);
    if (to != MAP_FAILED)
        (void)munmap(to, bytes);
}

static int obey(void)
{
    static char line[4096];
    while (read_line(line, sizeof line)) {
        char *args[IMAGE_BASES_MAX + 3] = { 0 }, *rest = line;
        for (size_t i = 0; i + 1 < sizeof args / sizeof args[0]; i++)
            args[i] = strsep(&rest, " ");
        int rc = 0;
        if (strcmp(args[0], "image") == 0)
            rc = write_image(args[1], args + 2);
        else if (strcmp(args[0], "set") == 0)
            set_pages(args);
        else if (strcmp(args[0], "copy") == 0)
            time_copy(strtoul(args[1], NULL, 10));
        if (rc < 0)
            return 1;
        print_digest(rc ? "became" : args[0]);
    }
    return 0;
}

/* ---- its start ---- */

static int run_write(const char *file, size_t megabytes)
{
    static char *const none[] = { NULL };
    state.n = megabytes << 20;
    state.bytes = malloc(state.n + 1);
    state.text = strdup("on the heap");
    state.shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    state.locked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(state.bytes, 3, state.n + 1);
    (void)snprintf(state.locked, 4096, "read-only");
    (void)mprotect(state.locked, 4096, PROT_READ);
    *state.shared = 5;
    counter++;
    of_thread = 8;
    (void)signal(SIGUSR1, on_signal);
    (void)umask(027);
    (void)fesetround(FE_UPWARD);
    int rc = write_image(file, none);
    if (rc < 0)
        return 1;
    print_state(rc ? "became" : "wrote");
    if (rc)
        printf("cookie=%s\n", rc == 1 ? "12345" : "another");
    (void)fflush(stdout);
    return obey();
}

int main(int argc, char **argv)
{
    static char *held[200];
    char why[IMAGE_WHY] = "";
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        return run_write(argv[2], (size_t)strtoul(argv[3], NULL, 10));
    if (argc < 3)
        return 2;
    if (strcmp(argv[1], "inside") == 0)
        for (int i = 0; i < 200; i++) { /* the layout is no longer that of the writer */
            held[i] = malloc(100000 + (size_t)i);
            if (!held[i])
                return 2;
            memset(held[i], 1, 100000);
        }
    idle[IDLE] = 9;
    const struct image_bases bases = open_bases(argv + 3);
    image_become(open(argv[2], O_RDONLY), &bases, 12345, why);
    fprintf(stderr, "refused: %s\n", why);
    return 3;
}
