/* bench/part_images.c — images of sessions: forks, sessions and runs that begin in an image, sleep and
 * wake. The bare interpreter does the same setup in turns with ours. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "bench/die.h"
#include "bench/session_bench.h"

#define ADD "{\"code\": \"1+1\"}"
/* A frame of 100 MB: 13 columns of a million numbers. */
#define FRAME                             \
    "import pandas as pd, numpy as np\\n" \
    "df = pd.DataFrame(np.ones((1000000, 13)))"
#define FRAME_BARE                       \
    "import pandas as pd, numpy as np\n" \
    "df = pd.DataFrame(np.ones((1000000, 13)))\nprint(len(df))"
#define MEMORY "\"limits\": {\"memory\": \"%s\"}"

/* A state whose image is measured. */
static const struct state {
    const char *title, *name, *language, *setup, *memory;
    enum workload_id needs;
    const char *start_budget, *pause_budget;
} states[] = {
    { "Python, 100 MB", "p100", "python", "x = bytearray(b'x') * (100 << 20)", "512m", WORK_PYTHON,
      "image_start_ms", "image_pause_ms" },
    { "Python, 900 MB", "p900", "python", "x = bytearray(b'x') * (900 << 20)", "2g", WORK_PYTHON,
      "image_large_start_ms", "image_large_pause_ms" },
    { "Node, 250 MB", "n250", "javascript",
      "const keep = Array.from({length: 3200000}, (_, i) => ({i, s: 'x' + i})); keep.length", "1g",
      WORK_NODE, "image_node_start_ms", NULL },
};

static void post(struct load_client *v, const char *path, const char *json, json_t **ret)
{
    json_t *answer;
    (void)load_client_ask(v, "POST", path, json, &answer);
    if (ret)
        *ret = answer;
    else
        json_decref(answer);
}

/* A session that begins in the image of a template, and its first cell. */
static double start_once(struct load_client *v, const struct bench_service *s,
                         const struct state *state)
{
    char json[160];
    json_t *answer;
    struct bench_session made;
    (void)snprintf(json, sizeof json, "{\"language\": \"%s\", \"template\": \"%s\", " MEMORY "}",
                   state->language, state->name, state->memory);
    service_settle(s);
    double ms = load_client_ask(v, "POST", "/v1/sessions", json, &answer);
    const char *id = json_string_value(json_object_get(answer, "id"));
    (void)snprintf(made.path, sizeof made.path, "/v1/sessions/%s", id ? id : "");
    (void)snprintf(made.exec_path, sizeof made.exec_path, "%s/exec", made.path);
    json_decref(answer);
    ms += bench_session_cell(v, &made, ADD, NULL);
    bench_session_end(v, &made);
    return ms;
}

static void measure_starts(struct bench *b, struct load_client *v, const struct bench_service *s,
                           const struct state *state)
{
    char json[400];
    struct series ms = { 0 };
    (void)snprintf(json, sizeof json,
                   "{\"name\": \"%s\", \"language\": \"%s\", \"setup\": \"%s\", "
                   "\"cell_limits\": {\"wall_ms\": 60000}, " MEMORY "}",
                   state->name, state->language, state->setup, state->memory);
    post(v, "/v1/templates", json, NULL);
    for (size_t i = 0; i < 1 + b->plan.image_starts; i++) {
        double one = start_once(v, s, state);
        if (i > 0)
            series_add(&ms, one);
    }
    report_series(b->report, state->title, &ms, NULL);
    report_metric(b->report, state->start_budget, series_stats(&ms).p50);
    series_done(&ms);
}

/* The time in which a session that is forked runs nothing, by its own word. Its first fork is the slowest
 * one, and counts. */
static void measure_pauses(struct bench *b, struct load_client *v, const struct bench_service *s,
                           const struct state *state)
{
    char json[200], path[96];
    json_t *answer;
    struct bench_session original;
    struct series ms = { 0 }, first = { 0 };
    (void)snprintf(json, sizeof json,
                   "{\"language\": \"%s\", \"cell_limits\": {\"wall_ms\": 60000}, " MEMORY "}",
                   state->language, state->memory);
    (void)load_client_ask(v, "POST", "/v1/sessions", json, &answer);
    const char *id = json_string_value(json_object_get(answer, "id"));
    (void)snprintf(original.path, sizeof original.path, "/v1/sessions/%s", id ? id : "");
    (void)snprintf(original.exec_path, sizeof original.exec_path, "%s/exec", original.path);
    json_decref(answer);
    (void)snprintf(json, sizeof json, "{\"code\": \"%s\"}", state->setup);
    (void)bench_session_cell(v, &original, json, NULL);
    (void)snprintf(path, sizeof path, "%s/fork", original.path);
    for (size_t i = 0; i < b->plan.image_forks; i++) {
        struct bench_session copy;
        service_settle(s);
        post(v, path, "{}", &answer);
        double pause_ms = json_number_value(json_object_get(answer, "pause_ms"));
        series_add(&ms, pause_ms);
        if (i == 0)
            series_add(&first, pause_ms);
        id = json_string_value(
            json_object_get(json_array_get(json_object_get(answer, "sessions"), 0), "id"));
        (void)snprintf(copy.path, sizeof copy.path, "/v1/sessions/%s", id ? id : "");
        bench_session_end(v, &copy);
        json_decref(answer);
    }
    bench_session_end(v, &original);
    report_series(b->report, state->title, &ms, NULL);
    report_series(b->report, "  its first fork alone", &first, NULL);
    report_metric(b->report, state->pause_budget, series_stats(&ms).p50);
    series_done(&ms);
    series_done(&first);
}

static void race_runs(struct bench *b, struct load_client *v, const struct bench_service *s)
{
    static const char run[] = "{\"template\": \"frame\", \"code\": \"print(len(df))\", "
                              "\"limits\": {\"memory\": \"1g\"}}";
    char why[200], text[300];
    struct series ours = { 0 }, bare = { 0 };
    struct way_command c = { .argv = { "/usr/bin/python3", "-c", FRAME_BARE },
                             .says = "1000000\n" };
    if (!command_try(&c, why, sizeof why)) {
        (void)snprintf(text, sizeof text, "a run from a template: %s", why);
        report_skip(b->report, text);
        return;
    }
    post(v, "/v1/templates",
         "{\"name\": \"frame\", \"language\": \"python\", \"setup\": \"" FRAME "\", "
         "\"cell_limits\": {\"wall_ms\": 60000}, \"limits\": {\"memory\": \"1g\"}}",
         NULL);
    for (size_t i = 0; i < 1 + b->plan.image_starts; i++) {
        json_t *answer;
        service_settle(s);
        double ms = load_client_ask(v, "POST", "/v1/runs", run, &answer);
        const char *out = json_string_value(json_object_get(answer, "stdout"));
        if (!out || strcmp(out, "1000000\n") != 0)
            bench_dief("a run from a template failed: %s", json_dumps(answer, JSON_COMPACT));
        json_decref(answer);
        if (i == 0)
            continue;
        series_add(&ours, ms);
        if (bare.n * 4 < ours.n)
            series_add(&bare, command_once(&c));
    }
    report_section(b->report, "a run with pandas and a frame of 100 MB");
    report_series(b->report, "bare python3, with the setup", &bare, &bare);
    report_series(b->report, "belljar, HTTP, from a template", &ours, &bare);
    report_metric(b->report, "template_run_ms", series_stats(&ours).p50);
    report_metric(b->report, "bare_over_template_run", series_ratio(&bare, &ours).all);
    series_done(&ours);
    series_done(&bare);
}

void part_images(struct bench *b)
{
    struct bench_service s;
    if (b->absent[WORK_DATA])
        return;
    service_start(&s, &b->site, "images", SERVICE_WARM, NULL);
    struct load_client *v = load_client_new(s.port);
    race_runs(b, v, &s);
    report_section(b->report, "a session that begins in an image, and 1+1");
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (!b->absent[states[i].needs])
            measure_starts(b, v, &s, &states[i]);
    report_section(b->report, "the pause of a session that is forked");
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (states[i].pause_budget)
            measure_pauses(b, v, &s, &states[i]);
    images_kept(b, v, &s);
    load_client_free(v);
    service_stop(&s);
    images_sleepers(b);
}
