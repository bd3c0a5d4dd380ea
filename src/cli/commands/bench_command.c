/* `belljar bench`: the options. src/bench measures. */
#include <signal.h>

#include "base/array.h"
#include "bench/guard.h"
#include "cli/cli.h"
#include "cli/manual/page.h"

#define AT(member) offsetof(struct bench_options, member)
static const struct arg_row rows[] = {
    { "quick", .offset = AT(quick),
      .help = "fewer repetitions: about one minute instead of about ten" },
    { "json", "FILE", .offset = AT(json), .values.kind = VALUES_FILE,
      .help = "write every number to this file as JSON" },
    { "svg", "FILE", .offset = AT(svg), .values.kind = VALUES_FILE,
      .help = "draw the results into this file" },
    { "million", .offset = AT(million),
      .help = "part history: measure a history of a million runs, too (3 GB of disk)" },
};
#undef AT

static const char *part_at(const void *def, size_t i)
{
    const char *help;
    (void)def;
    return bench_part(i, &help);
}

static void put_parts(struct page *p)
{
    const char *name, *help;
    page_section(p, "Parts");
    for (size_t i = 0; (name = bench_part(i, &help)); i++)
        page_item(p, name, help);
}

static int bench(void *options, int argc, char **argv, struct err *e)
{
    struct bench_options *o = options;
    sigset_t ending;
    (void)argc;
    o->parts = (const char *const *)argv;
    if (bench_check_parts(o->parts, e))
        return -1;
    cli_signals(&ending);
    return guard_run(o, &ending, e);
}

const struct cli_command bench_command = {
    .name = "bench",
    .summary = "measure the cost of a run here, beside other ways to run it",
    .usage = (const char *const[]){ "[OPTION]... [PART]...", NULL },
    .description =
        "Measures the cost of a run on this machine: warm and cold, over HTTP and by 'belljar "
        "run'. For comparison it measures the bare interpreter, and bubblewrap, firejail, docker "
        "and runsc if they work here. Without a PART it measures all parts, in the order below.\n\n"
        "It starts services of its own on free ports, with their state below $TMPDIR or /tmp, and "
        "removes them at the end. It uses two cores.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .max_operands = ARGS_OPERANDS_ANY,
    .values = { VALUES_WORDS, part_at },
    .sections = put_parts,
    .statuses = (const char *const[]){ "0", "every budget is met", "1", "a budget is missed", "2",
                                       "a measurement failed", NULL },
    .options_size = sizeof(struct bench_options),
    .run = bench,
};
