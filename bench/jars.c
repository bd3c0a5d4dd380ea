/* bench/jars — what a jar costs, beside what bubblewrap costs, in one run on one machine.
 *
 * The two take turns, so that whatever else the machine does falls on both. Bubblewrap gets the same root: /usr
 * read-only, its links, /proc, /dev, a tmpfs. It makes fewer promises: no cgroup, seccomp, Landlock or uid of its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "engine/link.h"
#include "engine/run.h"

extern char **environ;

static const struct language true_program = {
    .name = "true",
    .command = (const char *const[]){ "/bin/true", NULL },
    .env = (const char *const[]){ NULL },
};

static char *const bwrap_true[] = {
    "bwrap",     "--unshare-all", "--die-with-parent", "--ro-bind", "/usr",  "/usr",  "--symlink",
    "usr/bin",   "/bin",          "--symlink",         "usr/lib",   "/lib",  "--symlink", "usr/lib64",
    "/lib64",    "--proc",        "/proc",             "--dev",     "/dev",  "--tmpfs",   "/tmp",
    "--tmpfs",   "/sandbox",      "--chdir",           "/sandbox",  "/bin/true", NULL,
};

static ssize_t ignore(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    (void)context, (void)stream, (void)bytes;
    return (ssize_t)n;
}

_Noreturn static void die(const char *what, const struct err *e)
{
    (void)fprintf(stderr, "bench: %s: %s\n", what, e ? e->text : strerror(errno));
    exit(1);
}

static int empty_bundle(void)
{
    struct buf none = { 0 };
    struct err e;
    int fd;
    if (fd_sealed_memory("bench", &none, &fd, &e))
        die("bundle", &e);
    return fd;
}

static void start(struct run *r, const struct warden *w, uint64_t id, int bundle)
{
    struct err e = { 0 };
    struct run_request q = { .id = id,
                             .language = &true_program,
                             .main_name = "none",
                             .limits = limits_default(),
                             .bundle_fd = bundle };
    if (run_start(r, w->fd, &w->isolation, &q, ignore, NULL, &e))
        die("start a jar", &e);
}

static double jar_once(const struct warden *w, uint64_t id, int bundle)
{
    struct run r;
    struct err e = { 0 };
    uint64_t begin = clock_us();
    start(&r, w, id, bundle);
    while (!run_over(&r)) {
        struct pollfd p[RUN_POLLS];
        run_polls(&r, p);
        if (poll(p, RUN_POLLS, -1) < 0 || run_ready(&r, p, &e))
            die("run a jar", &e);
    }
    uint64_t end = clock_us();
    if (run_verdict(&r) != VERDICT_OK)
        die(verdict_word(run_verdict(&r)), &r.end.err);
    run_done(&r);
    return (double)(end - begin) / 1000;
}

static double process_once(char *const *argv)
{
    pid_t pid;
    int status;
    uint64_t begin = clock_us();
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) < 0)
        die(argv[0], NULL);
    uint64_t end = clock_us();
    if (status != 0) {
        (void)fprintf(stderr, "bench: %s ended with status %d\n", argv[0], status);
        exit(1);
    }
    return (double)(end - begin) / 1000;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
    return sorted[(size_t)((double)(n - 1) * q)];
}

static void print_row(const char *name, double *ms, size_t n, double against)
{
    qsort(ms, n, sizeof *ms, by_value);
    double p50 = quantile(ms, n, 0.5);
    (void)printf("  %-34s %8.2f %8.2f %8.2f   %5.2f\n", name, p50, quantile(ms, n, 0.9),
                 quantile(ms, n, 0.99), against > 0 ? p50 / against : 1.0);
}

/* One jar at a time from a warden that is there, the whole command line, and bubblewrap, in turns. */
static void compare(const struct warden *w, char *belljar, size_t n)
{
    char script[] = "/tmp/belljar-bench-XXXXXX.sh";
    autoclose int fd = mkostemps(script, 3, O_CLOEXEC);
    if (fd < 0 || write(fd, ":\n", 2) != 2)
        die("make a script", NULL);
    char *const cli[] = { belljar, "run", script, NULL };
    double *jar = calloc(n, sizeof *jar), *bwrap = calloc(n, sizeof *bwrap), *whole = calloc(n, sizeof *whole);
    autoclose int bundle = empty_bundle();
    if (!jar || !bwrap || !whole)
        die("memory", NULL);
    for (size_t i = 0; i < n; i++) {
        jar[i] = jar_once(w, i + 1, bundle);
        bwrap[i] = process_once(bwrap_true);
        whole[i] = process_once(cli);
    }
    (void)unlink(script);
    qsort(bwrap, n, sizeof *bwrap, by_value);
    double against = quantile(bwrap, n, 0.5);
    (void)printf("%zu times each, in turns              p50 ms   p90 ms   p99 ms   ratio\n", n);
    print_row("bwrap --unshare-all /bin/true", bwrap, n, against);
    print_row("jar with /bin/true", jar, n, against);
    print_row("belljar run true.sh (bash, cold)", whole, n, against);
    free(jar);
    free(bwrap);
    free(whole);
}

static void burst(const struct warden *w, size_t n)
{
    struct run *runs = calloc(n, sizeof *runs);
    struct pollfd *polls = calloc(n * RUN_POLLS, sizeof *polls);
    struct err e = { 0 };
    autoclose int bundle = empty_bundle();
    if (!runs || !polls)
        die("memory", NULL);
    uint64_t begin = clock_us();
    for (size_t i = 0; i < n; i++)
        start(&runs[i], w, 100000 + i, bundle);
    size_t ended = 0, ok = 0;
    /* All share one wire: messages are handed to the run they name. */
    while (ended < n) {
        struct wire_message m;
        struct wire_ended x;
        int got = wire_receive(w->fd, &m, &e);
        if (got <= 0)
            die("lost the warden", &e);
        if (m.type != WIRE_ENDED)
            continue;
        if (wire_read_ended(&m, &x, &e))
            die("read", &e);
        ended++;
        ok += verdict_decide(&x.evidence) == VERDICT_OK;
        if (verdict_decide(&x.evidence) != VERDICT_OK)
            (void)fprintf(stderr, "bench: %s\n", x.err.text);
    }
    (void)printf("%zu at once: %zu ok, %.0f ms in all, %.2f ms each\n", n, ok,
                 (double)(clock_us() - begin) / 1000, (double)(clock_us() - begin) / 1000 / (double)n);
    for (size_t i = 0; i < n; i++)
        run_done(&runs[i]);
    free(runs);
    free(polls);
    if (ok != n)
        exit(1);
}

int main(int argc, char **argv)
{
    struct err e = { 0 };
    struct warden w;
    if (argc != 4) {
        (void)fprintf(stderr, "usage: jars BELLJAR ROUNDS AT_ONCE\n");
        return 64;
    }
    if (link_open(LEVEL_AUTO, &w, &e))
        die("start a warden", &e);
    compare(&w, argv[1], strtoul(argv[2], NULL, 10));
    burst(&w, strtoul(argv[3], NULL, 10));
    warden_stop(&w);
    return 0;
}
