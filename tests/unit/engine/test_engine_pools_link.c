/* The pools of the engine. The test plays the warden. */
#include <poll.h>

#include "check.h"
#include "engine/engine_impl.h"
#include "peer.h"
#include "place.h"

static struct wire_message message; /* too large for the stack */

struct desk {
    struct place place;
    uv_loop_t loop;
    struct store *store;
    uv_poll_t store_poll;
    struct engine *engine;
    int warden_fd; /* the test's */
};

static const struct pools_settings usual = {
    .max = 8, .min = 2, .preload = UINT32_MAX, .zygote_forks = 7, .zygote_age_ms = 9000
};
static const struct isolation jar = { .level = LEVEL_JAR };

static void on_store(uv_poll_t *poll, int status, int events)
{
    struct desk *d = poll->data;
    (void)status;
    (void)events;
    store_dispatch(d->store);
}

static void give_wire(struct desk *d, const struct isolation *isolation)
{
    struct pair p = pair_new();
    struct err e = { 0 };
    fd_close(&d->warden_fd);
    d->warden_fd = p.b;
    CHECK_INT(engine_set_wire(d->engine, p.a, isolation, &e), 0);
}

static bool desk_init(struct desk *d, const struct isolation *isolation)
{
    static const struct engine_limits limits = { 8, 8, 8, 0, 8, 1 << 20, 0, 0, false };
    struct err e = { 0 };
    *d = (struct desk){ .warden_fd = -1 };
    if (!place_init(&d->place) || !CHECK_INT(uv_loop_init(&d->loop), 0) ||
        !CHECK_INT(store_open(&d->store, d->place.path, &e), 0) ||
        !CHECK_INT(engine_new(&d->engine, &d->loop, d->store, d->place.fd, &limits, &e), 0))
        return false;
    d->store_poll.data = d;
    CHECK_INT(uv_poll_init(&d->loop, &d->store_poll, store_fd(d->store)), 0);
    CHECK_INT(uv_poll_start(&d->store_poll, UV_READABLE, on_store), 0);
    /* In place of the kinds that the languages declare. */
    struct pools_policy *p = &d->engine->pools;
    p->n = 2;
    p->kinds[0] = (struct pool_kind){ .name = "thin", .language = languages[0] };
    p->kinds[1] = (struct pool_kind){ .name = "large", .language = languages[1], .large = true };
    engine_set_version(d->engine, languages[0], "1");
    engine_set_version(d->engine, languages[1], "1");
    engine_set_pools(d->engine, &usual);
    give_wire(d, isolation);
    return true;
}

static void desk_done(struct desk *d)
{
    fd_close(&d->warden_fd);
    uv_close((uv_handle_t *)&d->store_poll, NULL);
    store_close(d->store);
    engine_free(d->engine);
    (void)uv_run(&d->loop, UV_RUN_NOWAIT);
    CHECK_INT(uv_loop_close(&d->loop), 0);
    place_done(&d->place);
}

static void on_time(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

/* Runs the loop until the warden has a message, or `ms` have gone by; its type, or -1. */
static int next_message(struct desk *d, unsigned ms)
{
    bool late = false;
    uv_timer_t timer;
    struct err e = { 0 };
    int type = -1;
    timer.data = &late;
    CHECK_INT(uv_timer_init(&d->loop, &timer), 0);
    CHECK_INT(uv_timer_start(&timer, on_time, ms, 0), 0);
    while (!late && type < 0) {
        struct pollfd p = { .fd = d->warden_fd, .events = POLLIN };
        if (poll(&p, 1, 5) == 1 && wire_receive(d->warden_fd, &message, &e) == 1)
            type = (int)message.type;
        (void)uv_run(&d->loop, UV_RUN_NOWAIT);
    }
    uv_close((uv_handle_t *)&timer, NULL);
    (void)uv_run(&d->loop, UV_RUN_NOWAIT);
    return type;
}

static struct pool_targets next_targets(struct desk *d, unsigned ms)
{
    struct pool_targets t = { 0 };
    struct err e = { 0 };
    if (CHECK_INT(next_message(d, ms), WIRE_TARGETS))
        CHECK_INT(wire_read_targets(&message, &t, &e), 0);
    return t;
}

static void answer(struct desk *d, const struct wire_pools *p)
{
    struct err e = { 0 };
    CHECK_INT(wire_send_pools(d->warden_fd, p, &e), 0);
    (void)uv_run(&d->loop, UV_RUN_NOWAIT);
    (void)uv_run(&d->loop, UV_RUN_NOWAIT);
}

static const struct wire_pools at_rest = {
    .kinds = 2,
    .state = { { .zygote = ZYGOTE_UP, .ready = 1, .zygotes = 1, .forks = 5 },
               { .zygote = ZYGOTE_UP, .ready = 1, .zygotes = 1 } },
};

static void test_warden_is_told_targets_at_once_and_its_answer_is_shown(void)
{
    struct desk d;
    if (!desk_init(&d, &jar))
        return;
    struct pool_targets t = next_targets(&d, 1000);
    CHECK(t.kinds[0].on && t.kinds[1].on && !t.kinds[2].on);
    CHECK(t.kinds[0].ready == 1 && t.kinds[1].ready == 1);
    CHECK(t.zygote_forks == 7 && t.zygote_age_ms == 9000);
    struct engine_pools p = engine_pools(d.engine);
    CHECK(p.n == 2 && p.kinds[0].state.zygote == ZYGOTE_OFF && p.kinds[0].target == 1);
    answer(&d, &at_rest);
    p = engine_pools(d.engine);
    CHECK_STR(p.kinds[0].name, "thin");
    CHECK(p.kinds[0].state.zygote == ZYGOTE_UP && p.kinds[0].state.ready == 1);
    CHECK(p.kinds[0].state.forks == 5 && !p.short_of_memory);
    desk_done(&d);
}

static void test_nothing_is_sent_at_rest_and_much_when_somebody_looks(void)
{
    struct desk d;
    if (!desk_init(&d, &jar))
        return;
    (void)next_targets(&d, 1000);
    CHECK_INT(next_message(&d, 1300), -1); /* unanswered: no second one is sent */
    answer(&d, &at_rest);
    (void)next_targets(&d, 1500); /* that was due */
    answer(&d, &at_rest);
    CHECK_INT(next_message(&d, 1500), -1);
    engine_pools_refresh(d.engine);
    (void)next_targets(&d, 100);
    answer(&d, &at_rest);
    (void)next_targets(&d, 1500);
    desk_done(&d);
}

static void test_demand_and_new_settings_are_told_soon(void)
{
    struct desk d;
    if (!desk_init(&d, &jar))
        return;
    (void)next_targets(&d, 1000);
    answer(&d, &at_rest);
    for (int i = 0; i < 5; i++)
        pools_link_count_demand(d.engine, 1);
    struct pool_targets t = next_targets(&d, 500);
    CHECK_INT(t.kinds[0].ready, 5);
    struct pools_settings none = usual, other = usual;
    other.limits.v[LIMIT_MEMORY] = 1 << 20;
    engine_set_pools(d.engine, &other);
    answer(&d, &at_rest);
    t = next_targets(&d, 500);
    CHECK_INT(t.limits.v[LIMIT_MEMORY], 1 << 20);
    none.max = 0;
    engine_set_pools(d.engine, &none);
    CHECK_INT(next_message(&d, 50), -1); /* one is on its way */
    answer(&d, &at_rest);
    t = next_targets(&d, 50); /* and then at once */
    CHECK(!t.kinds[0].on && !t.kinds[1].on && t.kinds[0].ready == 0);
    desk_done(&d);
}

static void test_level_process_has_no_pools(void)
{
    static const struct isolation process = { .level = LEVEL_PROCESS };
    struct desk d;
    if (!desk_init(&d, &process))
        return;
    pools_link_count_demand(d.engine, 1);
    engine_pools_refresh(d.engine);
    CHECK_INT(next_message(&d, 300), -1);
    CHECK_INT(engine_pools(d.engine).kinds[0].target, 0);
    desk_done(&d);
}

static void test_new_warden_is_told_from_the_start(void)
{
    struct desk d;
    if (!desk_init(&d, &jar))
        return;
    (void)next_targets(&d, 1000);
    answer(&d, &at_rest);
    give_wire(&d, &jar);
    CHECK(engine_pools(d.engine).kinds[0].state.zygote == ZYGOTE_OFF);
    CHECK(next_targets(&d, 1000).kinds[0].on);
    CHECK_INT(engine_counts(d.engine).warden_losses, 1);
    desk_done(&d);
}

/* A warden that sends states of unknown pools, or unrequested states, is not trusted any longer. */
static void test_nonsense_about_pools_drops_the_warden(void)
{
    static char bytes[64];
    struct peer_head head = { WIRE_VERSION, WIRE_POOLS, 0 };
    for (int which = 0; which < 5; which++) {
        struct desk d;
        struct wire_pools p = at_rest;
        if (!desk_init(&d, &jar))
            return;
        (void)next_targets(&d, 1000);
        switch (which) {
        case 0:
            p.kinds = 1;
            answer(&d, &p);
            break;
        case 1:
            p.kinds = 3;
            answer(&d, &p);
            break;
        case 2:
            answer(&d, &p);
            CHECK(engine_isolation(d.engine) != NULL);
            answer(&d, &p);
            break;
        case 3:
            p.state[0].zygote = ZYGOTE_STATES_;
            answer(&d, &p);
            break;
        default:
            head.len = 1;
            memcpy(bytes, &head, sizeof head);
            CHECK(peer_send(d.warden_fd, bytes, sizeof head + 1, 0));
            (void)uv_run(&d.loop, UV_RUN_NOWAIT);
            (void)uv_run(&d.loop, UV_RUN_NOWAIT);
        }
        if (!CHECK(engine_isolation(d.engine) == NULL))
            printf("    case %d\n", which);
        CHECK_INT(engine_counts(d.engine).warden_losses, 1);
        desk_done(&d);
    }
}

/* ---- runs ---- */

struct waiting {
    struct run_watch watch;
    bool done;
    json_t *result;
};

static void on_news(struct run_watch *w, struct run *x, enum run_event what)
{
    struct waiting *waiting = (struct waiting *)w;
    if (what != RUN_EVENT_DONE)
        return;
    waiting->done = true;
    waiting->result = json_incref(x->result_json);
    run_watch_remove(x, w);
}

static struct run_spec program(bool writable_root)
{
    return (struct run_spec){ .language = language_find("python"),
                              .main_name = strdup("main.py"),
                              .limits = limits_default(),
                              .writable_root = writable_root,
                              .actor = strdup("test"),
                              .surface = strdup("v1"),
                              .request = strdup("{}"),
                              .code = strdup("print(1)") };
}

/* Runs the program as far as the warden; the id in its message. */
static uint64_t submitted(struct desk *d, struct run_spec *spec, struct waiting *w,
                          uint32_t *ret_kind)
{
    struct err e = { 0 };
    struct run *x;
    struct wire_spawn s = { 0 };
    *w = (struct waiting){ .watch.on_event = on_news };
    CHECK_INT(engine_submit(d->engine, spec, 0, NULL, &w->watch, &x, &e), 0);
    int type;
    while ((type = next_message(d, 3000)) == WIRE_TARGETS)
        answer(d, &at_rest);
    CHECK_INT(type, WIRE_SPAWN);
    CHECK_INT(wire_read_spawn(&message, &s, &e), 0);
    uint64_t id = s.id;
    *ret_kind = s.job.kind;
    wire_spawn_done(&s);
    wire_message_done(&message);
    return id;
}

static void finish(struct desk *d, uint64_t id, struct waiting *w)
{
    struct wire_ended end = { .id = id };
    struct err e = { 0 };
    CHECK_INT(wire_send_ended(d->warden_fd, &end, &e), 0);
    for (int i = 0; i < 1000 && !w->done; i++)
        if (next_message(d, 5) == WIRE_TARGETS)
            answer(d, &at_rest);
    CHECK(w->done);
}

static void test_result_and_counters_tell_how_it_started(void)
{
    for (int s = 0; s < START_COUNT_; s++) {
        struct desk d;
        struct waiting w;
        struct err e = { 0 };
        uint32_t kind;
        struct run_spec spec = program(false);
        struct buf none = { 0 };
        unsigned fits = pools_kind_of(spec.language, "main.py", spec.code, &none, NULL);
        if (!desk_init(&d, &jar))
            return;
        struct wire_started started = { submitted(&d, &spec, &w, &kind), (enum start)s };
        CHECK_INT(kind, fits);
        CHECK_INT(wire_send_started(d.warden_fd, &started, &e), 0);
        finish(&d, started.id, &w);
        CHECK_STR(json_string_value(json_object_get(w.result, "start")), start_word((enum start)s));
        struct engine_pools p = engine_pools(d.engine);
        for (int other = 0; other < START_COUNT_; other++)
            CHECK_INT(p.starts[fits][other], other == s);
        json_decref(w.result);
        desk_done(&d);
    }
}

static void test_run_that_never_started_has_no_start(void)
{
    struct desk d;
    struct waiting w;
    uint32_t kind;
    struct run_spec spec = program(false);
    if (!desk_init(&d, &jar))
        return;
    finish(&d, submitted(&d, &spec, &w, &kind), &w);
    CHECK(json_is_null(json_object_get(w.result, "start")));
    json_decref(w.result);
    desk_done(&d);
}

static void test_writable_root_no_pools_and_level_process_ask_for_no_embryo(void)
{
    static const struct isolation process = { .level = LEVEL_PROCESS };
    for (int which = 0; which < 3; which++) {
        struct desk d;
        struct waiting w;
        uint32_t kind;
        struct run_spec spec = program(which == 0);
        if (!desk_init(&d, which == 2 ? &process : &jar))
            return;
        struct pools_settings s = usual;
        s.max = which == 1 ? 0 : 8;
        engine_set_pools(d.engine, &s);
        uint64_t id = submitted(&d, &spec, &w, &kind);
        CHECK_INT(kind, 0);
        finish(&d, id, &w);
        json_decref(w.result);
        desk_done(&d);
    }
}

static const struct check_test tests[] = {
    TEST(test_warden_is_told_targets_at_once_and_its_answer_is_shown),
    TEST(test_nothing_is_sent_at_rest_and_much_when_somebody_looks),
    TEST(test_demand_and_new_settings_are_told_soon),
    TEST(test_level_process_has_no_pools),
    TEST(test_new_warden_is_told_from_the_start),
    TEST(test_nonsense_about_pools_drops_the_warden),
    TEST(test_result_and_counters_tell_how_it_started),
    TEST(test_run_that_never_started_has_no_start),
    TEST(test_writable_root_no_pools_and_level_process_ask_for_no_embryo),
};
CHECK_MAIN(tests)
