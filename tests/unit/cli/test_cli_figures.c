/* The spread of measured values. */
#include <math.h>

#include "check.h"
#include "cli/batch/figures.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_figures_of_a_sample(void)
{
    double odd[] = { 9, 2, 4 }, even[] = { 8, 2, 4, 6 }, one[] = { 5 };
    struct figures f = figures_of(odd, 3);
    CHECK(f.n == 3 && near(f.min, 2) && near(f.median, 4) && near(f.max, 9) && near(f.mean, 5));
    CHECK(near(f.deviation, sqrt(13)));
    f = figures_of(even, 4);
    CHECK(near(f.median, 5) && near(f.mean, 5) && near(f.deviation, sqrt(20.0 / 3)));
    f = figures_of(one, 1);
    CHECK(near(f.median, 5) && near(f.deviation, 0) && near(f.min, 5) && near(f.max, 5));
    f = figures_of(one, 0);
    CHECK(f.n == 0 && near(f.median, 0));
}

static const struct check_test tests[] = {
    TEST(test_figures_of_a_sample),
};
CHECK_MAIN(tests)
