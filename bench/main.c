/* bench/jars — what a jar costs, beside what bubblewrap costs, in one run on one machine. Started by bench/run.
 *
 *     jars [--quick] DIR REPORT.json [PART...]
 *
 * DIR holds the command `belljar` and the tool `nasty_tree`, and is ours to write in. The exit status is 1 when one of
 * the numbers that must be reached is not. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "commands.h"
#include "engine/link.h"
#include "report.h"

static const struct plan full = {
    .rounds = 300, .in_a_row = 1000, .at_once = 200, .teardowns = 10, .neighbours = 100
};
static const struct plan quick = {
    .rounds = 30, .in_a_row = 200, .at_once = 50, .teardowns = 2, .neighbours = 20
};

static const struct part {
    const char *name;
    void (*run)(struct bench *);
} parts[] = {
    { "contests", contests },   { "in_a_row", in_a_row },     { "at_once", at_once },
    { "teardowns", teardowns }, { "neighbours", neighbours },
};
enum { PARTS = sizeof parts / sizeof parts[0] };

void die(const char *what, const struct err *e)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "bench: %s: %s\n", what, e && e->text[0] ? e->text : strerror(errno));
    exit(2);
}

void start_warden(enum level level, struct warden *ret)
{
    struct err e = { 0 };
    if (link_open(level, ret, &e))
        die("start a warden", &e);
}

/* Whatever the machine has, the numbers are those of two cores. */
static void stay_on_two_cores(void)
{
    cpu_set_t may, two;
    CPU_ZERO(&two);
    if (sched_getaffinity(0, sizeof may, &may) < 0)
        die("sched_getaffinity", NULL);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; cpu++)
        if (CPU_ISSET(cpu, &may))
            CPU_SET(cpu, &two);
    if (sched_setaffinity(0, sizeof two, &two) < 0)
        die("sched_setaffinity", NULL);
}

static void raise_open_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        die("getrlimit", NULL);
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        die("setrlimit", NULL);
}

/* So that temporary files that are left behind are told from everybody else's. */
static void own_temporary_directory(const char *dir)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/tmp", dir);
    if (mkdir(path, 01777) < 0 || setenv("TMPDIR", path, 1) < 0)
        die(path, NULL);
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: jars [--quick] DIR REPORT.json [PART...]   (parts:");
    for (size_t i = 0; i < PARTS; i++)
        (void)fprintf(stderr, " %s", parts[i].name);
    (void)fprintf(stderr, ")\n");
    return 64;
}

static const struct part *part_find(const char *name)
{
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(parts[i].name, name) == 0)
            return &parts[i];
    return NULL;
}

static int measure(struct bench *b, char **names)
{
    for (char **name = names; *name; name++)
        if (!part_find(*name))
            return usage();
    stay_on_two_cores();
    raise_open_files();
    commands_prepare(b);
    for (size_t i = 0; !*names && i < PARTS; i++)
        parts[i].run(b);
    for (; *names; names++)
        part_find(*names)->run(b);
    return 0;
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    argv += is_quick ? 2 : 1;
    argc -= is_quick ? 2 : 1;
    if (argc < 2)
        return usage();
    char belljar[512], nasty_tree[512];
    (void)snprintf(belljar, sizeof belljar, "%s/belljar", argv[0]);
    (void)snprintf(nasty_tree, sizeof nasty_tree, "%s/nasty_tree", argv[0]);
    struct bench b = { .dir = argv[0],
                       .belljar = belljar,
                       .nasty_tree = nasty_tree,
                       .plan = is_quick ? quick : full,
                       .report = report_new(is_quick) };
    own_temporary_directory(argv[0]);
    int status = measure(&b, argv + 2);
    if (status == 0) {
        status = report_verdict(b.report) > 0;
        report_save(b.report, argv[1]);
    }
    report_free(b.report);
    return status;
}
