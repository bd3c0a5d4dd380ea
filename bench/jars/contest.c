/* The cost of a jar beside the cost of bubblewrap, at each level that this machine has.
 *
 * In every round each contender runs once, in a new random order: a contender that leaves work for
 * the kernel does not always slow the same one. */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "bench/bench_report.h"
#include "bench/command.h"
#include "guests.h"
#include "jars_bench.h"
#include "programs.h"

enum { ORDINARY_UID = 54321 }; /* an unused uid: no passwd entry, no files */

enum { IN_JAR = -1 }; /* through a running warden, in place of one of enum way */

/* The other rows of a program are compared with its first one. */
static const struct contender {
    const char *name;
    int program, way;
} contenders[] = {
    { "/bin/true, bwrap, same root", PROGRAM_TRUE, WAY_BWRAP },
    { "/bin/true, jar", PROGRAM_TRUE, IN_JAR },
    { "/bin/true, bwrap, /usr alone", PROGRAM_TRUE, WAY_BWRAP_USR },
    { "bash hello, bwrap, same root", PROGRAM_BASH, WAY_BWRAP },
    { "bash hello, jar", PROGRAM_BASH, IN_JAR },
    { "python hello, bwrap, same root", PROGRAM_PYTHON, WAY_BWRAP },
    { "python hello, jar", PROGRAM_PYTHON, IN_JAR },
};
enum { CONTENDERS = ARRAY_LEN(contenders), ROUNDS_MAX = 4096 };

/* In shared memory: the contest of an ordinary user is held by a child. */
struct results {
    double ms[CONTENDERS][ROUNDS_MAX];
};

static void shuffle(size_t order[CONTENDERS])
{
    for (size_t i = CONTENDERS - 1; i > 0; i--) {
        size_t other = (size_t)random() % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static void hold(const struct jars_bench *b, enum level level, struct results *results)
{
    static struct way_command commands[CONTENDERS];
    struct warden w;
    size_t order[CONTENDERS];
    uint64_t id = 0;
    start_warden(level, &w);
    for (size_t i = 0; i < CONTENDERS; i++) {
        order[i] = i;
        if (contenders[i].way != IN_JAR)
            command_build(&commands[i], &b->site, (enum way)contenders[i].way,
                          &programs[contenders[i].program]);
    }
    /* The first round warms the page cache and does not count. */
    for (size_t round = 0; round <= b->plan.rounds; round++) {
        shuffle(order);
        for (size_t k = 0; k < CONTENDERS; k++) {
            size_t i = order[k];
            double ms = contenders[i].way == IN_JAR
                            ? guest_once(&w, ++id, &programs[contenders[i].program])
                            : command_once(&commands[i]);
            if (round > 0)
                results->ms[i][round - 1] = ms;
        }
    }
    warden_stop(&w);
}

/* An ordinary user, for good. Changing the uid makes us undumpable, and then our own /proc files
 * are root's: a user namespace could not be mapped. */
static void become_ordinary(void)
{
    if (setgroups(0, NULL) < 0 || setresgid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID) < 0 ||
        setresuid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID) < 0 ||
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        bench_die("become an ordinary user", NULL);
}

static void hold_as_ordinary(const struct jars_bench *b, enum level level, struct results *results)
{
    int status;
    (void)fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        bench_die("fork", NULL);
    if (child == 0) {
        become_ordinary();
        hold(b, level, results);
        _exit(0);
    }
    if (waitpid(child, &status, 0) < 0 || status != 0)
        bench_die("the contest of an ordinary user failed", NULL);
}

static void tell(struct jars_bench *b, const char *level, struct results *results)
{
    char title[80], must[80];
    struct series all[CONTENDERS];
    (void)snprintf(title, sizeof title, "a fresh jar at level %s, in turns", level);
    report_section(b->report, title);
    for (size_t i = 0, first = 0; i < CONTENDERS; i++) {
        all[i] = (struct series){ .ms = results->ms[i], .n = b->plan.rounds };
        if (contenders[i].program != contenders[first].program)
            first = i;
        report_series(b->report, contenders[i].name, &all[i], &all[first]);
        if (contenders[i].way == IN_JAR && contenders[i].program == PROGRAM_TRUE) {
            (void)snprintf(must, sizeof must, "/bin/true in a fresh jar over bwrap, level %s",
                           level);
            report_must(b->report, must, series_ratio(&all[i], &all[first]).all, 1.0, "times");
        }
    }
}

void contests(struct jars_bench *b)
{
    struct results *results = mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (results == MAP_FAILED)
        bench_die("memory", NULL);
    if (b->plan.rounds > ROUNDS_MAX)
        bench_die("more rounds than there is room for", NULL);
    srandom(1); /* the same orders in every run */
    if (geteuid() == 0) {
        hold(b, LEVEL_JAR, results);
        tell(b, "jar", results);
        hold_as_ordinary(b, LEVEL_ROOTLESS, results);
    } else {
        report_skip(b->report, "level jar, which needs root");
        hold(b, LEVEL_ROOTLESS, results);
    }
    tell(b, "rootless", results);
    (void)munmap(results, sizeof *results);
}
