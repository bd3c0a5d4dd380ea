/* bench/jars/main.c — the cost of a jar beside the cost of bubblewrap, in one run on one machine.
 * bench/run starts it.
 *
 *     jars [--quick] DIR REPORT.json [PART...]
 *
 * DIR holds the tool `nasty_tree`, and we may write to it. The exit status is 1 if a budget is
 * missed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "bench/bench_report.h"
#include "bench/host.h"
#include "jars_bench.h"
#include "programs.h"
#include "run/level.h"

static const struct jars_plan full = {
    .rounds = 300, .in_a_row = 1000, .at_once = 200, .teardowns = 10, .neighbours = 100
};
static const struct jars_plan quick = {
    .rounds = 30, .in_a_row = 200, .at_once = 50, .teardowns = 2, .neighbours = 20
};

static const struct bench_part {
    const char *name;
    void (*run)(struct jars_bench *);
} parts[] = {
    { "contests", contests },   { "in_a_row", in_a_row },     { "at_once", at_once },
    { "teardowns", teardowns }, { "neighbours", neighbours },
};
enum { PARTS = ARRAY_LEN(parts) };

void start_warden(enum level level, struct warden *ret)
{
    struct err e = { 0 };
    if (level_open_warden(level, NULL, NULL, ret, &e))
        bench_die("start a warden", &e);
}

/* So that leftover temporary files can be told from those of other programs. */
static void own_temporary_directory(const char *dir)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/tmp", dir);
    if (mkdir(path, 01777) < 0 || setenv("TMPDIR", path, 1) < 0)
        bench_die(path, NULL);
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: jars [--quick] DIR REPORT.json [PART...]   (parts:");
    for (size_t i = 0; i < PARTS; i++)
        (void)fprintf(stderr, " %s", parts[i].name);
    (void)fprintf(stderr, ")\n");
    return 64;
}

static const struct bench_part *part_find(const char *name)
{
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(parts[i].name, name) == 0)
            return &parts[i];
    return NULL;
}

static int measure(struct jars_bench *b, char **names)
{
    for (char **name = names; *name; name++)
        if (!part_find(*name))
            return usage();
    host_use_two_cores();
    host_use_many_files();
    way_prepare(&b->site, programs, PROGRAMS);
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
    char nasty_tree[512];
    (void)snprintf(nasty_tree, sizeof nasty_tree, "%s/nasty_tree", argv[0]);
    struct jars_bench b = { .site = { .dir = argv[0] },
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
