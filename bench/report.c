#include "report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

struct report {
    json_t *whole, *sections, *musts;
    json_t *rows, *facts; /* of the section that is being filled */
};

/* As people read it, in the table and in JSON alike: three digits behind the point. */
static double rounded(double x)
{
    return (double)(long long)(x * 1000 + (x < 0 ? -0.5 : 0.5)) / 1000;
}

static json_t *load_average(void)
{
    double load[1] = { 0 };
    (void)getloadavg(load, 1);
    return json_real(rounded(load[0]));
}

static json_t *machine(void)
{
    struct utsname u;
    if (uname(&u) < 0)
        die("uname", NULL);
    return json_pack("{s:s, s:s, s:I, s:b, s:o}", "kernel", u.release, "machine", u.machine, "cpus",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "root", geteuid() == 0,
                     "load_before", load_average());
}

struct report *report_new(bool quick)
{
    struct report *r = calloc(1, sizeof *r);
    if (!r)
        die("memory", NULL);
    r->sections = json_array();
    r->musts = json_array();
    r->whole = json_pack("{s:b, s:o, s:o, s:o}", "quick", quick, "machine", machine(), "sections",
                         r->sections, "musts", r->musts);
    if (!r->whole)
        die("memory", NULL);
    return r;
}

void report_free(struct report *r)
{
    if (r)
        json_decref(r->whole);
    free(r);
}

void report_section(struct report *r, const char *title)
{
    r->rows = json_array();
    r->facts = json_array();
    json_t *section = json_pack("{s:s, s:o, s:o}", "title", title, "series", r->rows, "facts",
                                r->facts);
    if (!section || json_array_append_new(r->sections, section))
        die("memory", NULL);
    (void)printf("\n%-44s %6s %8s %8s %8s  %5s\n", title, "n", "p50 ms", "p90 ms", "p99 ms",
                 "ratio");
    (void)fflush(stdout);
}

void report_series(struct report *r, const char *name, const struct series *s,
                   const struct series *against)
{
    struct stats t = series_stats(s);
    json_t *row = json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f}", "name", name, "n",
                            (json_int_t)t.n, "p10_ms", rounded(t.p10), "p50_ms", rounded(t.p50),
                            "p90_ms", rounded(t.p90), "p99_ms", rounded(t.p99), "max_ms",
                            rounded(t.max));
    if (!row || json_array_append_new(r->rows, row))
        die("memory", NULL);
    (void)printf("  %-42s %6zu %8.2f %8.2f %8.2f", name, t.n, t.p50, t.p90, t.p99);
    if (against) {
        struct ratio x = series_ratio(s, against);
        json_t *ratio = json_pack("{s:f, s:f, s:f}", "of_medians", rounded(x.all), "lowest_fifth",
                                  rounded(x.low), "highest_fifth", rounded(x.high));
        if (json_object_set_new(row, "ratio", ratio))
            die("memory", NULL);
        (void)printf("  %5.2f", x.all);
        if (s != against)
            (void)printf("  (%.2f to %.2f)", x.low, x.high);
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

void report_fact(struct report *r, const char *name, double value, const char *unit)
{
    json_t *fact = json_pack("{s:s, s:f, s:s}", "name", name, "value", rounded(value), "unit",
                             unit);
    if (!fact || json_array_append_new(r->facts, fact))
        die("memory", NULL);
    (void)printf("  %-60s %10.6g %s\n", name, rounded(value), unit);
    (void)fflush(stdout);
}

void report_must(struct report *r, const char *name, double value, double bound, const char *unit)
{
    json_t *must = json_pack("{s:s, s:f, s:f, s:s, s:b}", "name", name, "value", rounded(value),
                             "at_most", rounded(bound), "unit", unit, "reached", value <= bound);
    if (!must || json_array_append_new(r->musts, must))
        die("memory", NULL);
}

void report_skip(struct report *r, const char *why)
{
    json_t *skipped = json_object_get(r->whole, "skipped");
    if (!skipped && json_object_set_new(r->whole, "skipped", json_array()))
        die("memory", NULL);
    if (json_array_append_new(json_object_get(r->whole, "skipped"), json_string(why)))
        die("memory", NULL);
    (void)printf("\nskipped: %s\n", why);
}

int report_verdict(const struct report *r)
{
    size_t i;
    json_t *must;
    int missed = 0;
    (void)printf("\nMust reach\n");
    json_array_foreach(r->musts, i, must)
    {
        const char *name, *unit;
        double value, bound;
        int reached;
        if (json_unpack(must, "{s:s, s:F, s:F, s:s, s:b}", "name", &name, "value", &value,
                        "at_most", &bound, "unit", &unit, "reached", &reached))
            die("read the report", NULL);
        (void)printf("  %-7s %-60s %.6g %s (at most %.6g)", reached ? "reached" : "MISSED", name,
                     value, unit, bound);
        if (!reached)
            (void)printf(", by %.6g", rounded(value - bound));
        (void)printf("\n");
        missed += !reached;
    }
    return missed;
}

void report_save(const struct report *r, const char *path)
{
    json_t *where = json_object_get(r->whole, "machine");
    if (json_object_set_new(where, "load_after", load_average()))
        die("memory", NULL);
    if (json_dump_file(r->whole, path, JSON_INDENT(2) | JSON_REAL_PRECISION(9)))
        die(path, NULL);
}
