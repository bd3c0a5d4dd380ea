#include "bench/bench_report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/die.h"

struct bench_report {
    json_t *whole, *sections, *musts, *metrics, *charts;
    json_t *rows, *facts; /* of the current section */
};

/* Rounds for people, in the table and in JSON: three digits after the point. */
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
        bench_die("uname", NULL);
    return json_pack("{s:s, s:s, s:I, s:b, s:o}", "kernel", u.release, "machine", u.machine, "cpus",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "root", geteuid() == 0,
                     "load_before", load_average());
}

struct bench_report *report_new(bool quick)
{
    struct bench_report *r = calloc(1, sizeof *r);
    if (!r)
        bench_die("memory", NULL);
    r->sections = json_array();
    r->musts = json_array();
    r->metrics = json_object();
    r->charts = json_array();
    r->whole = json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "quick", quick, "machine", machine(),
                         "sections", r->sections, "musts", r->musts, "metrics", r->metrics,
                         "charts", r->charts);
    if (!r->whole)
        bench_die("memory", NULL);
    return r;
}

void report_free(struct bench_report *r)
{
    if (r)
        json_decref(r->whole);
    free(r);
}

static void section_begin(struct bench_report *r, const char *title)
{
    r->rows = json_array();
    r->facts = json_array();
    json_t *section = json_pack("{s:s, s:o, s:o}", "title", title, "series", r->rows, "facts",
                                r->facts);
    if (!section || json_array_append_new(r->sections, section))
        bench_die("memory", NULL);
}

void report_section(struct bench_report *r, const char *title)
{
    section_begin(r, title);
    (void)printf("\n%-44s %6s %8s %8s %8s  %5s\n", title, "n", "p50 ms", "p90 ms", "p99 ms",
                 "ratio");
    (void)fflush(stdout);
}

void report_facts(struct bench_report *r, const char *title)
{
    section_begin(r, title);
    (void)printf("\n%s\n", title);
    (void)fflush(stdout);
}

void report_rates(struct bench_report *r, const char *title)
{
    section_begin(r, title);
    (void)printf("\n%-44s %6s %8s %6s %8s %8s %8s\n", title, "n", "runs/s", "ratio", "CPU ms",
                 "p50 ms", "p99 ms");
    (void)fflush(stdout);
}

void report_series(struct bench_report *r, const char *name, const struct series *s,
                   const struct series *against)
{
    struct stats t = series_stats(s);
    json_t *row = json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f}", "name", name, "n",
                            (json_int_t)t.n, "p10_ms", rounded(t.p10), "p50_ms", rounded(t.p50),
                            "p90_ms", rounded(t.p90), "p99_ms", rounded(t.p99), "max_ms",
                            rounded(t.max));
    if (!row || json_array_append_new(r->rows, row))
        bench_die("memory", NULL);
    (void)printf("  %-42s %6zu %8.2f %8.2f %8.2f", name, t.n, t.p50, t.p90, t.p99);
    if (against) {
        struct ratio x = series_ratio(s, against);
        json_t *ratio = json_pack("{s:f, s:f, s:f}", "of_medians", rounded(x.all), "lowest_fifth",
                                  rounded(x.low), "highest_fifth", rounded(x.high));
        if (json_object_set_new(row, "ratio", ratio))
            bench_die("memory", NULL);
        (void)printf("  %5.2f", x.all);
        if (s != against)
            (void)printf("  (%.2f to %.2f)", x.low, x.high);
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

void report_rate(struct bench_report *r, const char *name, const struct report_rate *rate)
{
    json_t *row = json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f}", "name", name, "n",
                            (json_int_t)rate->runs, "per_second", rounded(rate->per_second),
                            "ratio", rounded(rate->over), "p50_ms", rounded(rate->p50_ms), "p99_ms",
                            rounded(rate->p99_ms), "cpu_ms_a_run", rounded(rate->cpu_ms));
    if (!row || json_array_append_new(r->rows, row))
        bench_die("memory", NULL);
    (void)printf("  %-42s %6zu %8.1f %6.2f %8.2f", name, rate->runs, rate->per_second, rate->over,
                 rate->cpu_ms);
    if (rate->p50_ms > 0)
        (void)printf(" %8.2f %8.2f", rate->p50_ms, rate->p99_ms);
    (void)printf("\n");
    (void)fflush(stdout);
}

void report_fact(struct bench_report *r, const char *name, double value, const char *unit)
{
    json_t *fact = json_pack("{s:s, s:f, s:s}", "name", name, "value", rounded(value), "unit",
                             unit);
    if (!fact || json_array_append_new(r->facts, fact))
        bench_die("memory", NULL);
    (void)printf("  %-60s %10.6g %s\n", name, rounded(value), unit);
    (void)fflush(stdout);
}

void report_must(struct bench_report *r, const char *name, double value, double bound,
                 const char *unit)
{
    json_t *must = json_pack("{s:s, s:f, s:f, s:s, s:b}", "name", name, "value", rounded(value),
                             "at_most", rounded(bound), "unit", unit, "reached", value <= bound);
    if (!must || json_array_append_new(r->musts, must))
        bench_die("memory", NULL);
}

void report_metric(struct bench_report *r, const char *key, double value)
{
    if (json_object_set_new(r->metrics, key, json_real(rounded(value))))
        bench_die("memory", NULL);
}

static json_t *chart_of(struct bench_report *r, const char *title, const char *unit)
{
    size_t i;
    json_t *chart;
    json_array_foreach(r->charts, i, chart) {
        if (strcmp(json_string_value(json_object_get(chart, "title")), title) == 0)
            return chart;
    }
    chart = json_pack("{s:s, s:s, s:[]}", "title", title, "unit", unit, "bars");
    if (!chart || json_array_append_new(r->charts, chart))
        bench_die("memory", NULL);
    return chart;
}

void report_bar(struct bench_report *r, const char *title, const char *unit, const char *label,
                double value, bool ours)
{
    json_t *bars = json_object_get(chart_of(r, title, unit), "bars");
    json_t *bar = json_pack("{s:s, s:f, s:b}", "label", label, "value", rounded(value), "ours",
                            ours);
    if (!bar || json_array_append_new(bars, bar))
        bench_die("memory", NULL);
}

const json_t *report_charts(const struct bench_report *r)
{
    return r->charts;
}

void report_skip(struct bench_report *r, const char *why)
{
    json_t *skipped = json_object_get(r->whole, "skipped");
    if (!skipped && json_object_set_new(r->whole, "skipped", json_array()))
        bench_die("memory", NULL);
    if (json_array_append_new(json_object_get(r->whole, "skipped"), json_string(why)))
        bench_die("memory", NULL);
    (void)printf("left out: %s\n", why);
    (void)fflush(stdout);
}

int report_verdict(const struct bench_report *r)
{
    size_t i;
    json_t *must;
    int missed = 0;
    (void)printf("\nMust reach\n");
    json_array_foreach(r->musts, i, must) {
        const char *name, *unit;
        double value, bound;
        int reached;
        if (json_unpack(must, "{s:s, s:F, s:F, s:s, s:b}", "name", &name, "value", &value,
                        "at_most", &bound, "unit", &unit, "reached", &reached))
            bench_die("read the report", NULL);
        (void)printf("  %-7s %-60s %.6g %s (at most %.6g)", reached ? "reached" : "MISSED", name,
                     value, unit, bound);
        if (!reached)
            (void)printf(", by %.6g", rounded(value - bound));
        (void)printf("\n");
        missed += !reached;
    }
    return missed;
}

int report_budgets(struct bench_report *r, const struct budget *budgets, size_t n)
{
    int missed = 0;
    json_t *list = json_array();
    (void)printf("\n%-74s %10s %12s\n", "budgets", "measured", "budget");
    for (size_t i = 0; i < n; i++) {
        const struct budget *b = &budgets[i];
        const json_t *measured = json_object_get(r->metrics, b->key);
        double value = json_number_value(measured);
        enum budget_verdict verdict = measured ? budget_judge(b, value) : BUDGET_NOT_MEASURED;
        char number[32] = "-";
        if (measured)
            (void)snprintf(number, sizeof number, "%.4g", value);
        (void)printf("  %-72s %10s %2s %9.4g %-6s %s\n", b->what, number,
                     b->sense == AT_MOST ? "<=" : ">=", b->bound, b->unit,
                     budget_verdict_word(verdict));
        missed += verdict == BUDGET_MISS;
        json_t *row = json_pack("{s:s, s:s, s:o?, s:s, s:f, s:s, s:s}", "key", b->key, "name",
                                b->what, "value", measured ? json_real(value) : NULL, "sense",
                                b->sense == AT_MOST ? "at_most" : "at_least", "bound", b->bound,
                                "unit", b->unit, "verdict", budget_verdict_word(verdict));
        if (!row || json_array_append_new(list, row))
            bench_die("memory", NULL);
    }
    if (json_object_set_new(r->whole, "budgets", list))
        bench_die("memory", NULL);
    return missed;
}

void report_save(const struct bench_report *r, const char *path)
{
    json_t *where = json_object_get(r->whole, "machine");
    if (json_object_set_new(where, "load_after", load_average()))
        bench_die("memory", NULL);
    if (json_dump_file(r->whole, path, JSON_INDENT(2) | JSON_REAL_PRECISION(9)))
        bench_die(path, NULL);
}
