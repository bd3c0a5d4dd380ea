/* The policy of pools: numbers in, targets out. */
#include "engine/pools/pools.h"

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "check.h"
#include "place.h"
#include "spec/bundle.h"

enum { THIN, LARGE, OTHER, KINDS };
#define GIB (1ULL << 30)

static const struct pools_settings usual = {
    .max = 64, .min = 2, .preload = UINT32_MAX, .zygote_forks = 1000, .zygote_age_ms = 600000
};

static struct pools_policy pools_with(const struct pools_settings *s)
{
    struct pools_policy p = { .settings = *s, .n = KINDS };
    p.kinds[THIN] = (struct pool_kind){ .name = "thin" };
    p.kinds[LARGE] = (struct pool_kind){ .name = "large", .large = true };
    p.kinds[OTHER] = (struct pool_kind){ .name = "other" };
    return p;
}

static struct pools_view view_at(uint64_t now_ms)
{
    return (struct pools_view){ .now_ms = now_ms,
                                .installed = UINT32_MAX,
                                .sealed = true,
                                .memory = { 64 * GIB, 60 * GIB, 0 } };
}

static struct pool_targets decide_at(struct pools_policy *p, uint64_t now_ms)
{
    struct pools_view v = view_at(now_ms);
    return pools_policy_decide(p, &v);
}

static void take(struct pools_policy *p, int which, unsigned n, uint64_t now_ms)
{
    while (n-- > 0)
        pools_policy_count_demand(p, (unsigned)which + 1, now_ms);
}

static void test_at_rest_one_of_each_kind_waits(void)
{
    struct pools_policy p = pools_with(&usual);
    struct pool_targets t = decide_at(&p, 1000);
    CHECK(t.kinds[THIN].on && t.kinds[LARGE].on && t.kinds[OTHER].on && !t.kinds[KINDS].on);
    CHECK_INT(t.kinds[THIN].ready, 1);
    CHECK_INT(t.kinds[LARGE].ready, 1);
    CHECK_INT(t.kinds[OTHER].ready, 1);
    CHECK(t.zygote_forks == 1000 && t.zygote_age_ms == 600000);
}

static void test_target_follows_a_burst_at_once_and_fades_slowly(void)
{
    static const struct {
        unsigned taken;    /* before the round */
        uint64_t after_ms; /* the last round */
        unsigned least, most;
    } rounds[] = {
        { 0, 0, 1, 1 },       { 1, 100, 2, 2 }, /* in use: the minimum */
        { 30, 100, 30, 30 },                    /* at once */
        { 0, 100, 29, 30 },   { 5, 100, 29, 30 },    { 0, 10000, 19, 21 }, { 0, 20000, 9, 11 },
        { 40, 100, 40, 40 },  { 1000, 100, 64, 64 }, /* never above the maximum */
        { 0, 60000, 14, 18 }, { 0, 60000, 3, 5 },    { 0, 60000, 2, 2 },   { 0, 60000, 2, 2 },
        { 0, 100000, 1, 1 }, /* nobody asks for it any more */
    };
    struct pools_policy p = pools_with(&usual);
    uint64_t now = 1000;
    for (size_t i = 0; i < ARRAY_LEN(rounds); i++) {
        now += rounds[i].after_ms;
        take(&p, THIN, rounds[i].taken, now);
        struct pool_targets t = decide_at(&p, now);
        if (!CHECK(t.kinds[THIN].ready >= rounds[i].least && t.kinds[THIN].ready <= rounds[i].most))
            printf("    round %zu: %u\n", i, t.kinds[THIN].ready);
        CHECK_INT(t.kinds[OTHER].ready, 1);
    }
}

static void test_often_or_seldom_rounds_fade_alike(void)
{
    struct pools_policy often = pools_with(&usual), seldom = often;
    take(&often, THIN, 40, 1000);
    take(&seldom, THIN, 40, 1000);
    (void)decide_at(&often, 1000);
    (void)decide_at(&seldom, 1000);
    struct pool_targets a = { 0 };
    for (uint64_t now = 1100; now <= 21000; now += 100)
        a = decide_at(&often, now);
    struct pool_targets b = decide_at(&seldom, 21000);
    CHECK(a.kinds[THIN].ready >= 14 && b.kinds[THIN].ready <= 20 &&
          a.kinds[THIN].ready <= b.kinds[THIN].ready);
}

static void test_large_kind_has_a_smaller_floor(void)
{
    struct pools_settings s = usual;
    s.min = 5;
    struct pools_policy p = pools_with(&s);
    take(&p, THIN, 1, 1000);
    take(&p, LARGE, 1, 1000);
    struct pool_targets t = decide_at(&p, 1000);
    CHECK_INT(t.kinds[THIN].ready, 5);
    CHECK_INT(t.kinds[LARGE].ready, 3);
    t = decide_at(&p, 1000 + 6 * 60000);
    CHECK_INT(t.kinds[THIN].ready, 1);
    CHECK_INT(t.kinds[LARGE].ready, 1);
    CHECK(t.kinds[LARGE].on); /* it was preloaded, and stays */
}

static void test_kind_that_is_not_preloaded_is_there_while_it_is_used(void)
{
    struct pools_settings s = usual;
    s.preload = 1U << THIN;
    struct pools_policy p = pools_with(&s);
    struct pool_targets t = decide_at(&p, 1000);
    CHECK(t.kinds[THIN].on && !t.kinds[LARGE].on && !t.kinds[OTHER].on);
    CHECK_INT(t.kinds[OTHER].ready, 0);
    take(&p, LARGE, 1, 1100);
    t = decide_at(&p, 1200);
    CHECK(t.kinds[LARGE].on && !t.kinds[OTHER].on && t.kinds[LARGE].ready == 1);
    CHECK(decide_at(&p, 1100 + 14 * 60000).kinds[LARGE].on);
    CHECK(!decide_at(&p, 1100 + 16 * 60000).kinds[LARGE].on);
}

static void test_kind_of_sessions_that_is_expected_is_booted_and_kept_for_a_day(void)
{
    enum { HOUR_MS = 3600000 };
    struct pools_settings s = usual;
    s.preload = 0;
    struct pools_policy p = pools_with(&s);
    p.kinds[LARGE].session = true;
    CHECK(!decide_at(&p, 1000).kinds[LARGE].on);
    pools_policy_expect(&p, LARGE + 1, 1100);
    pools_policy_expect(&p, 0, 1100);
    pools_policy_expect(&p, KINDS + 1, 1100);
    struct pool_targets t = decide_at(&p, 1200);
    CHECK(t.kinds[LARGE].on && t.kinds[LARGE].ready == 1);
    CHECK(!t.kinds[THIN].on && !t.kinds[OTHER].on);
    t = decide_at(&p, 1100 + 23 * HOUR_MS);
    CHECK(t.kinds[LARGE].on && t.kinds[LARGE].ready == 1);
    CHECK(!decide_at(&p, 1100 + 25 * HOUR_MS).kinds[LARGE].on);
}

static void test_nothing_is_kept_where_it_cannot_be_or_is_not_wanted(void)
{
    struct pools_settings none = usual;
    none.max = 0;
    struct pools_policy p = pools_with(&none);
    take(&p, THIN, 10, 1000);
    struct pool_targets t = decide_at(&p, 1000);
    for (int i = 0; i < KINDS; i++)
        CHECK(!t.kinds[i].on && t.kinds[i].ready == 0);
    p = pools_with(&usual);
    take(&p, THIN, 10, 1000);
    struct pools_view v = view_at(1000);
    v.installed = 1U << OTHER;
    t = pools_policy_decide(&p, &v);
    CHECK(!t.kinds[THIN].on && t.kinds[THIN].ready == 0 && t.kinds[OTHER].on);
    v.sealed = false;
    t = pools_policy_decide(&p, &v);
    CHECK(!t.kinds[OTHER].on && t.kinds[OTHER].ready == 0);
}

static void test_unknown_kinds_are_not_counted(void)
{
    struct pools_policy p = pools_with(&usual);
    pools_policy_count_demand(&p, 0, 1000);
    pools_policy_count_demand(&p, KINDS + 1, 1000);
    pools_policy_count_demand(&p, UINT32_MAX, 1000);
    for (int i = 0; i < ZYGOTE_KINDS_MAX; i++)
        CHECK(!p.demand[i].used);
}

static void test_short_memory_empties_the_pools_until_there_is_room_for_a_while(void)
{
    static const struct {
        uint64_t after_ms, available_mib;
        double stalled;
        bool is_short;
    } rounds[] = {
        { 0, 4000, 0, false },
        { 100, 600, 0, false },
        { 100, 511, 0, true },
        /* more than the floor, but not by much */
        { 100, 600, 0, true },
        { 20000, 600, 0, true },
        { 100, 4000, 0, true },
        { 9000, 4000, 0, true },
        { 1000, 500, 0, true },
        { 100, 4000, 0, true },
        { 9900, 4000, 0, true },
        { 200, 4000, 0, false },
        { 100, 4000, 9, false },
        { 100, 4000, 10, true },
        { 11000, 4000, 5, true },
        { 11000, 4000, 0.5, true },
        { 11000, 4000, 0, false },
    };
    struct pools_policy p = pools_with(&usual);
    uint64_t now = 1000;
    for (size_t i = 0; i < ARRAY_LEN(rounds); i++) {
        now += rounds[i].after_ms;
        take(&p, THIN, 4, now);
        take(&p, LARGE, 4, now);
        struct pools_view v = view_at(now);
        v.memory = (struct pools_memory){ 8 * GIB, rounds[i].available_mib << 20,
                                          rounds[i].stalled };
        struct pool_targets t = pools_policy_decide(&p, &v);
        if (!CHECK(p.short_of_memory == rounds[i].is_short))
            printf("    round %zu\n", i);
        CHECK_INT(t.kinds[THIN].ready, rounds[i].is_short ? 0 : 4);
        CHECK(t.kinds[THIN].on); /* hatching to order goes on */
        CHECK(t.kinds[LARGE].on == !rounds[i].is_short);
    }
}

static void test_memory_floor_is_the_setting_or_fits_the_machine(void)
{
    static const struct {
        uint64_t floor, total, available;
        bool is_short;
    } rows[] = {
        { 0, 1 * GIB, GIB / 9, false },
        { 0, 1 * GIB, GIB / 11, true },
        { 0, 64 * GIB, 513ULL << 20, false },
        { 0, 64 * GIB, 511ULL << 20, true },
        { 2 * GIB, 64 * GIB, GIB, true },
        { 1, 64 * GIB, 1, false },
        { 0, 0, 0, false }, /* nothing is known */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pools_settings s = usual;
        s.memory_floor = rows[i].floor;
        struct pools_policy p = pools_with(&s);
        struct pools_view v = view_at(1000);
        v.memory = (struct pools_memory){ rows[i].total, rows[i].available, 0 };
        (void)pools_policy_decide(&p, &v);
        if (!CHECK(p.short_of_memory == rows[i].is_short))
            printf("    row %zu\n", i);
    }
}

static void test_all_pools_together_take_an_eighth_of_the_memory(void)
{
    struct pools_settings s = usual;
    s.max = 512;
    struct pools_policy p = pools_with(&s);
    take(&p, THIN, 400, 1000);
    take(&p, LARGE, 100, 1000);
    struct pools_view v = view_at(1000);
    v.memory = (struct pools_memory){ 2 * GIB, 2 * GIB, 0 };
    struct pool_targets t = pools_policy_decide(&p, &v);
    CHECK(t.kinds[THIN].ready * 4 + t.kinds[LARGE].ready * 12 + t.kinds[OTHER].ready * 4 <= 256);
    CHECK(t.kinds[THIN].ready >= 30 && t.kinds[LARGE].ready >= 7);
    take(&p, THIN, 1000, 1000);
    take(&p, OTHER, 1000, 1000);
    t = decide_at(&p, 1000); /* and with memory enough no more than the warden has */
    CHECK(t.kinds[THIN].ready + t.kinds[LARGE].ready + t.kinds[OTHER].ready <= POOL_EMBRYOS_MAX);
    CHECK(t.kinds[THIN].ready > 200);
}

static void test_while_runs_wait_pools_are_not_filled(void)
{
    static const struct pool_state known[ZYGOTE_KINDS_MAX] = {
        [THIN] = { .zygote = ZYGOTE_UP, .ready = 3, .building = 2 },
        [OTHER] = { .zygote = ZYGOTE_UP, .ready = 9 },
    };
    struct pools_policy p = pools_with(&usual);
    take(&p, THIN, 20, 1000);
    struct pools_view v = view_at(1000);
    v.known = known;
    v.crowded = true;
    struct pool_targets t = pools_policy_decide(&p, &v);
    CHECK_INT(t.kinds[THIN].ready, 5); /* and no existing embryo is thrown away */
    CHECK_INT(t.kinds[OTHER].ready, 1);
    v.crowded = false;
    CHECK_INT(pools_policy_decide(&p, &v).kinds[THIN].ready, 20);
}

static void test_rest_is_when_all_is_there_or_will_not_be(void)
{
    struct pools_policy p = pools_with(&usual);
    struct pool_targets t = decide_at(&p, 1000);
    t.kinds[OTHER].on = false;
    t.kinds[OTHER].ready = 0;
    static const struct {
        struct pool_state thin, large, other;
        bool rest;
    } rows[] = {
        { { .zygote = ZYGOTE_UP, .ready = 1 }, { .zygote = ZYGOTE_UP, .ready = 2 }, { 0 }, true },
        { { .zygote = ZYGOTE_UP, .ready = 0 }, { .zygote = ZYGOTE_UP, .ready = 1 }, { 0 }, false },
        { { .zygote = ZYGOTE_UP, .ready = 1 }, { .zygote = ZYGOTE_BOOTING }, { 0 }, false },
        { { .zygote = ZYGOTE_UP, .ready = 1 }, { .zygote = ZYGOTE_FAILED }, { 0 }, true },
        { { .zygote = ZYGOTE_UP, .ready = 1 },
          { .zygote = ZYGOTE_UP },
          { .zygote = ZYGOTE_UP },
          false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pool_state known[ZYGOTE_KINDS_MAX] = { rows[i].thin, rows[i].large, rows[i].other };
        if (!CHECK(pools_policy_at_rest(&p, &t, known) == rows[i].rest))
            printf("    row %zu\n", i);
    }
}

static void test_preload_is_words_that_are_kinds(void)
{
    const struct zygote_def *defs[ZYGOTE_KINDS_MAX];
    size_t n = warm_zygotes(defs);
    uint32_t bits = 5;
    struct err e = { 0 };
    CHECK_INT(pools_preload("all", &bits, &e), 0);
    CHECK(bits == UINT32_MAX);
    CHECK_INT(pools_preload("used", &bits, &e), 0);
    CHECK_INT(bits, 0);
    static const char *const bad[] = { "", "pithon", "all,used", ",", "all " };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char quoted[40];
        CHECK_INT(pools_preload(bad[i], &bits, &e), -1);
        (void)snprintf(quoted, sizeof quoted, "'%s'", bad[i]);
        CHECK(strstr(e.text, quoted) && strstr(e.text, "pools.preload") && strstr(e.text, "used"));
        CHECK_INT(bits, 0);
    }
    if (n < 2)
        return;
    char two[200];
    (void)snprintf(two, sizeof two, "%s, %s", defs[1]->name, defs[0]->name);
    CHECK_INT(pools_preload(two, &bits, &e), 0);
    CHECK_INT(bits, 3);
    (void)snprintf(two, sizeof two, "%s,%s,x", defs[1]->name, defs[0]->name);
    CHECK_INT(pools_preload(two, &bits, &e), -1);
    CHECK(strstr(e.text, defs[0]->name) != NULL);
}

/* ---- which kind ---- */

static unsigned kind_of(const char *code, const char *beside, const char *env)
{
    const struct language *python = language_find("python");
    scoped(buf) bundle = { 0 };
    struct err e = { 0 };
    char *list[] = { (char *)env, NULL };
    CHECK_INT(bundle_add(&bundle, "data.txt", 0644, "import numpy\n", 13, &e), 0);
    if (beside)
        CHECK_INT(bundle_add(&bundle, "beside.py", 0644, beside, strlen(beside), &e), 0);
    if (code)
        CHECK_INT(bundle_add(&bundle, "main.py", 0644, code, strlen(code), &e), 0);
    unsigned told = pools_kind_of(python, "main.py", code, &bundle, list);
    unsigned found = pools_kind_of(python, "main.py", NULL, &bundle, list);
    CHECK_INT(found, told); /* in the bundle as well */
    return told;
}

static void test_kind_is_chosen_by_every_file_of_the_program(void)
{
    const struct language *python = language_find("python");
    unsigned thin = warm_kind(python, "", 0, NULL);
    unsigned data = warm_kind(python, "import numpy", 12, NULL);
    if (thin == 0 || data == thin) {
        SKIP("there are no two kinds of Python");
        return;
    }
    CHECK_INT(kind_of("print(1)", NULL, NULL), thin);
    CHECK_INT(kind_of("import numpy", NULL, NULL), data);
    CHECK_INT(kind_of("import beside", "x = 1", NULL), thin);
    CHECK_INT(kind_of("import beside", "import numpy", NULL), data);
    CHECK_INT(kind_of("import numpy", "x = 1", NULL), data);
    CHECK_INT(kind_of("print(1)", NULL, "A=1"), thin);
    CHECK_INT(kind_of("print(1)", "import numpy", "PYTHONHASHSEED=0"), 0);
}

static void test_language_without_zygotes_starts_cold(void)
{
    const struct language plain = { .name = "plain" };
    struct buf empty = { 0 };
    CHECK_INT(pools_kind_of(&plain, "main.x", "", &empty, NULL), 0);
}

/* ---- memory ---- */

static bool put(const struct place *p, const char *name, const char *text)
{
    char path[200];
    for (const char *slash = name; (slash = strchr(slash, '/')); slash++) {
        (void)snprintf(path, sizeof path, "%.*s", (int)(slash - name), name);
        (void)mkdirat(p->fd, path, 0755);
    }
    (void)unlinkat(p->fd, name, 0);
    return place_file(p, name, text, 0644);
}

static void test_memory_is_the_machines_or_the_narrowest_cgroups(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    struct pools_memory m = pools_memory_read_at(p.fd);
    CHECK(m.total == 0 && m.available == 0 && m.stalled == 0);
    CHECK(put(&p, "proc/meminfo",
              "MemTotal:       8388608 kB\nMemFree: 1 kB\nMemAvailable:    4194304 kB\n"));
    CHECK(put(&p, "proc/pressure/memory",
              "some avg10=50.00 avg60=0 avg300=0 total=1\nfull avg10=12.50 avg60=0.00 total=2\n"));
    m = pools_memory_read_at(p.fd);
    CHECK(m.total == 8 * GIB && m.available == 4 * GIB && m.stalled == 12.5);
    /* v2: the one around ours is the narrower */
    CHECK(put(&p, "proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n"));
    CHECK(put(&p, "sys/fs/cgroup/a/b/memory.max", "max\n"));
    CHECK(put(&p, "sys/fs/cgroup/a/memory.max", "1073741824\n"));
    CHECK(put(&p, "sys/fs/cgroup/a/memory.current", "805306368\n"));
    CHECK(put(&p, "sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 268435456\n"));
    m = pools_memory_read_at(p.fd);
    CHECK(m.total == GIB && m.available == GIB / 2);
    /* v1, as a container shows it: our path is not below the mount */
    CHECK(put(&p, "proc/self/cgroup", "4:memory:/docker/1234\n0::/\n"));
    CHECK(put(&p, "sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n"));
    CHECK(put(&p, "sys/fs/cgroup/memory/memory.usage_in_bytes", "2147483649\n"));
    m = pools_memory_read_at(p.fd);
    CHECK(m.total == 2 * GIB && m.available == 0);
    CHECK(put(&p, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"));
    m = pools_memory_read_at(p.fd);
    CHECK(m.total == 8 * GIB && m.available == 4 * GIB);
    place_done(&p);
    m = pools_memory_read();
    CHECK(m.total > 0 && m.available > 0 && m.available <= m.total);
}

static const struct check_test tests[] = {
    TEST(test_at_rest_one_of_each_kind_waits),
    TEST(test_target_follows_a_burst_at_once_and_fades_slowly),
    TEST(test_often_or_seldom_rounds_fade_alike),
    TEST(test_large_kind_has_a_smaller_floor),
    TEST(test_kind_that_is_not_preloaded_is_there_while_it_is_used),
    TEST(test_kind_of_sessions_that_is_expected_is_booted_and_kept_for_a_day),
    TEST(test_nothing_is_kept_where_it_cannot_be_or_is_not_wanted),
    TEST(test_unknown_kinds_are_not_counted),
    TEST(test_short_memory_empties_the_pools_until_there_is_room_for_a_while),
    TEST(test_memory_floor_is_the_setting_or_fits_the_machine),
    TEST(test_all_pools_together_take_an_eighth_of_the_memory),
    TEST(test_while_runs_wait_pools_are_not_filled),
    TEST(test_rest_is_when_all_is_there_or_will_not_be),
    TEST(test_preload_is_words_that_are_kinds),
    TEST(test_kind_is_chosen_by_every_file_of_the_program),
    TEST(test_language_without_zygotes_starts_cold),
    TEST(test_memory_is_the_machines_or_the_narrowest_cgroups),
};
CHECK_MAIN(tests)
