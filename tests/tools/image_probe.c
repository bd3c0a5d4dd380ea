/* A process with state of every kind that an image carries.
 *   image_probe write FILE MEGABYTES   writes an image of itself; then prints its own state
 *   image_probe become FILE            becomes the image, which prints its state
 *   image_probe inside FILE            the same after a use of much memory, so that the layouts differ
 * The report of the writer goes to stdout, too. */
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

#include "image/image.h"

static int counter = 41;
static _Thread_local int of_thread = 7;
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

static void print_state(const char *who, const unsigned char *bytes, size_t n, const char *text,
                        const int *shared, const char *locked)
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
           "rounding=%d time=%d\n",
           who, sum(bytes, n), text, counter, of_thread, *shared, locked, small, caught,
           (unsigned)mask, fegetround() == FE_UPWARD, now.tv_sec > 0);
    (void)fflush(stdout);
    free(more);
    free(small);
}

static int run_write(const char *file, size_t megabytes)
{
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
    size_t n = megabytes << 20;
    unsigned char *bytes = malloc(n + 1);
    char *text = strdup("on the heap"), why[IMAGE_WHY] = "";
    int *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *locked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct image_written w;
    memset(bytes, 3, n + 1);
    (void)snprintf(locked, 4096, "read-only");
    (void)mprotect(locked, 4096, PROT_READ);
    *shared = 5;
    counter++;
    of_thread = 8;
    (void)signal(SIGUSR1, on_signal);
    (void)umask(027);
    (void)fesetround(FE_UPWARD);
    if (fd < 0 || image_write(fd, 5000, UINT64_MAX, 1, &w, why)) {
        fprintf(stderr, "refused: %s\n", why);
        return 1;
    }
    if (!w.became) {
        counter = 1000; /* the image does not see it */
        while (!image_reap(w.writer))
            (void)usleep(1000);
    }
    caught = 0;
    print_state(w.became ? "became" : "wrote", bytes, n, text, shared, locked);
    if (w.became)
        printf("cookie=%llu\n", (unsigned long long)w.cookie);
    return 0;
}

int main(int argc, char **argv)
{
    static char *held[200];
    char why[IMAGE_WHY] = "";
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        return run_write(argv[2], (size_t)strtoul(argv[3], NULL, 10));
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "inside") == 0)
        for (int i = 0; i < 200; i++) { /* the layout is no longer that of the writer */
            held[i] = malloc(100000 + (size_t)i);
            if (!held[i])
                return 2;
            memset(held[i], 1, 100000);
        }
    image_become(open(argv[2], O_RDONLY), 12345, why);
    fprintf(stderr, "refused: %s\n", why);
    return 3;
}
