/* The benchmark evaluates its samples: quantiles, ratios, verdicts on budgets, and the plot. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "bench/bench_report.h"
#include "bench/budget.h"
#include "bench/command.h"
#include "bench/series.h"
#include "bench/svg.h"
#include "check.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void fill(struct series *s, int from, int to)
{
    for (int x = from; x <= to; x++)
        series_add(s, x);
}

static void test_quantiles_are_of_all_samples_whatever_their_order(void)
{
    struct series s = { 0 };
    for (int i = 0; i < 101; i++)
        series_add(&s, (i * 37) % 101);
    struct stats t = series_stats(&s);
    CHECK_INT(t.n, 101);
    CHECK(near(t.p10, 10) && near(t.p50, 50) && near(t.p90, 90) && near(t.p99, 99));
    CHECK(near(t.max, 100));
    CHECK(near(s.ms[1], 37)); /* and they stay in the order they came */
    series_done(&s);
}

static void test_no_sample_and_one_sample_have_quantiles(void)
{
    struct series s = { 0 };
    CHECK(near(series_stats(&s).p50, 0));
    series_add(&s, 7);
    CHECK(near(series_stats(&s).p50, 7) && near(series_stats(&s).p99, 7));
    series_done(&s);
}

static void test_ratio_is_of_all_samples_of_both_also_when_one_has_more(void)
{
    struct series few = { 0 }, many = { 0 };
    fill(&few, 1, 1);
    fill(&many, 1, 99); /* its first sample alone would say 1 */
    CHECK(near(series_ratio(&many, &few).all, 50));
    series_done(&few);
    series_done(&many);
}

static void test_ratio_shows_the_fifths_that_differ(void)
{
    struct series a = { 0 }, b = { 0 };
    for (int i = 0; i < 50; i++) {
        series_add(&a, i < 10 ? 40 : 20);
        series_add(&b, 10);
    }
    struct ratio r = series_ratio(&a, &b);
    CHECK(near(r.all, 2) && near(r.low, 2) && near(r.high, 4));
    series_done(&a);
    series_done(&b);
}

static void test_budgets_are_judged_by_their_sense(void)
{
    const struct budget most = { "a", "a", AT_MOST, 0.25, "x" };
    const struct budget least = { "b", "b", AT_LEAST, 10, "x" };
    CHECK(budget_judge(&most, 0.25) == BUDGET_PASS && budget_judge(&most, 0.26) == BUDGET_MISS);
    CHECK(budget_judge(&least, 10) == BUDGET_PASS && budget_judge(&least, 9.9) == BUDGET_MISS);
    CHECK_STR(budget_verdict_word(BUDGET_MISS), "MISS");
}

static void test_every_budget_has_a_key_of_its_own(void)
{
    for (size_t i = 0; i < n_budget_table; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(budget_table[i].key, budget_table[k].key) != 0);
}

static void test_budget_that_nobody_measured_is_neither_reached_nor_missed(void)
{
    struct bench_report *r = report_new(true);
    const struct budget two[] = { { "here", "here", AT_MOST, 1, "x" },
                                  { "not", "not", AT_MOST, 1, "x" } };
    report_metric(r, "here", 2);
    CHECK_INT(report_budgets(r, two, 2), 1);
    report_free(r);
}

/* --- the plot --- */

static json_t *charts_of(const char *label, double value)
{
    return json_pack("[{s:s, s:s, s:[{s:s, s:f, s:b}, {s:s, s:f, s:b}]}]", "title", "a <b> & \"c\"",
                     "unit", "ms", "bars", "label", label, "value", value, "ours", 1, "label",
                     "other", "value", 200.0, "ours", 0);
}

/* Every tag that is opened is closed in its turn, and no character with a meaning stands bare. An
 * XML parser would insist on that much. */
static bool well_formed(const char *at)
{
    char open[16][16];
    size_t depth = 0;
    for (; (at = strchr(at, '<')); at++) {
        const char *end = strchr(at, '>');
        if (!end || memchr(at + 1, '<', (size_t)(end - at - 1)))
            return false;
        size_t n = strcspn(at + 1, " />");
        if (at[1] == '?')
            continue;
        if (at[1] == '/') {
            n = strcspn(at + 2, " />");
            if (depth == 0 || strncmp(open[--depth], at + 2, n) != 0 || open[depth][n])
                return false;
        } else if (end[-1] != '/') {
            if (depth == 16 || n > 15)
                return false;
            memcpy(open[depth], at + 1, n);
            open[depth++][n] = '\0';
        }
    }
    return depth == 0;
}

static void test_plot_is_well_formed_whatever_names_hold(void)
{
    struct err e = { 0 };
    scoped(buf) out = { 0 };
    json_t *charts = charts_of("x<y> & 'z'", 12.5);
    CHECK_INT(svg_render(charts, &out, &e), 0);
    CHECK(well_formed(buf_str(&out)));
    CHECK(strstr(buf_str(&out), "x&lt;y&gt; &amp; 'z'") != NULL);
    CHECK(strstr(buf_str(&out), "12.5 ms") != NULL && strstr(buf_str(&out), "200 ms") != NULL);
    json_decref(charts);
}

static void test_plot_of_nothing_is_still_a_plot(void)
{
    struct err e = { 0 };
    scoped(buf) out = { 0 };
    json_t *charts = json_array();
    CHECK_INT(svg_render(charts, &out, &e), 0);
    CHECK(well_formed(buf_str(&out)));
    json_decref(charts);
}

static void test_value_that_has_no_logarithm_is_a_bar_without_length(void)
{
    struct err e = { 0 };
    scoped(buf) out = { 0 };
    json_t *charts = charts_of("zero", 0);
    CHECK_INT(svg_render(charts, &out, &e), 0);
    CHECK(well_formed(buf_str(&out)));
    CHECK(strstr(buf_str(&out), "nan") == NULL && strstr(buf_str(&out), "inf") == NULL);
    CHECK(strstr(buf_str(&out), "width=\"0.0\"") != NULL);
    json_decref(charts);
}

static void test_scale_holds_every_value(void)
{
    int low, high;
    json_t *charts = charts_of("a", 0.3);
    svg_decades(json_object_get(json_array_get(charts, 0), "bars"), &low, &high);
    CHECK_INT(low, -1);
    CHECK_INT(high, 3);
    json_decref(charts);
}

/* --- commands --- */

static struct way_command shell(const char *script, const char *says)
{
    return (struct way_command){ .argv = { "/bin/sh", "-c", script }, .says = says };
}

static void test_command_that_fails_is_left_out_with_its_own_words(void)
{
    char why[100] = "";
    struct way_command c = shell("echo one >&2; echo 'no daemon' >&2; exit 3", "");
    CHECK(!command_try(&c, why, sizeof why));
    CHECK_STR(why, "no daemon");
    c = shell("echo 2", "1\n");
    CHECK(!command_try(&c, why, sizeof why));
    CHECK(strstr(why, "said '2") != NULL);
    c = (struct way_command){ .argv = { "/nonexistent/runsc" }, .says = "" };
    CHECK(!command_try(&c, why, sizeof why));
    CHECK_STR(why, "not installed");
    c = shell("echo 1", "1\n");
    CHECK(command_try(&c, why, sizeof why));
}

static void test_rate_counts_what_ended_while_all_were_busy(void)
{
    struct way_command c = shell("echo 1", "1\n");
    struct command_rate got = command_rate(&c, 4, 0, 12);
    CHECK(got.busy_runs >= 12 && got.runs >= got.busy_runs && got.runs < got.busy_runs + 4);
    CHECK(got.busy_s > 0 && got.cpu_ms >= 0);
}

static const struct check_test tests[] = {
    TEST(test_quantiles_are_of_all_samples_whatever_their_order),
    TEST(test_no_sample_and_one_sample_have_quantiles),
    TEST(test_ratio_is_of_all_samples_of_both_also_when_one_has_more),
    TEST(test_ratio_shows_the_fifths_that_differ),
    TEST(test_budgets_are_judged_by_their_sense),
    TEST(test_every_budget_has_a_key_of_its_own),
    TEST(test_budget_that_nobody_measured_is_neither_reached_nor_missed),
    TEST(test_plot_is_well_formed_whatever_names_hold),
    TEST(test_plot_of_nothing_is_still_a_plot),
    TEST(test_value_that_has_no_logarithm_is_a_bar_without_length),
    TEST(test_scale_holds_every_value),
    TEST(test_command_that_fails_is_left_out_with_its_own_words),
    TEST(test_rate_counts_what_ended_while_all_were_busy),
};
CHECK_MAIN(tests)
