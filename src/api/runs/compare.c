/* /v1/comparisons: variants of a program on the same inputs. Run k of the group is variant k %
 * variants on input k / variants, so that the runs to compare happen at about the same time. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "api/runs/batch.h"
#include "api/runs/result_fields.h"
#include "api/runs/run_result.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "spec/permission.h"

static const struct api_field variant_fields[] = {
    { "name", FIELD_STRING, .min = 1, .max = 200, .help = "name of the variant" },
    { "language", FIELD_STRING, .help = "name or alias; inferred if absent",
      .also = "lang,lang_id" },
    { "code", FIELD_STRING, .help = "the program; alternatively give files and entry",
      .also = "source,source_code,script,program,content" },
    { "files", FIELD_FILES, .help = "files beside the program in /sandbox, by name" },
    { "entry", FIELD_STRING, .help = "the name of the file that is the program" },
    { "args", FIELD_STRINGS, .max = 1000,
      .help = "arguments of the program, unless the input has some" },
    { "env", FIELD_STRING_MAP, .max = 1000, .help = "environment beyond the built-in one" },
    { "limits", FIELD_LIMITS, .help = "limits of the run" },
    { "read_only", FIELD_BOOL,
      .help = "false gives a writable root that is thrown away; true by default" },
    { "permission_mode", FIELD_STRING, .one_of = permission_modes,
      .help = "default, manual and acceptEdits ask a person first" },
    { 0 },
};
static const struct api_field compared_input_fields[] = {
    { "name", FIELD_STRING, .min = 1, .max = 200, .help = "name of the input" },
    { "stdin", FIELD_DATA, .help = "stdin of the programs" },
    { "stdin_encoding", FIELD_STRING, .one_of = content_encodings,
      .help = "encoding of stdin; utf-8 if absent" },
    { "args", FIELD_STRINGS, .max = 1000, .help = "arguments of the programs" },
    { 0 },
};
static const struct api_field comparison_fields[] = {
    { "variants", FIELD_OBJECTS, .required = true, .fields = variant_fields,
      .elsewhere = "stdin=inputs,stdin_encoding=inputs", .help = "the programs to compare" },
    { "inputs", FIELD_OBJECTS, .fields = compared_input_fields,
      .help = "the inputs of each variant; one empty input if absent" },
    { "compare", FIELD_STRING, .one_of = compare_words,
      .help = "how outputs are compared: trim (the default), exact, tokens" },
    { "parallel", FIELD_INT, .min = 1, .max = 100000,
      .help = "number of runs at a time; 1 gives the steadiest times" },
    { "stream", FIELD_BOOL,
      .help = "send each run when it ends, as lines of JSON, or as server-sent events by the "
              "header Accept" },
    { "cancel_on_disconnect", FIELD_BOOL,
      .help = "stop if the client goes away; otherwise the comparison goes on" },
    { 0 },
};

static const struct api_field compared_run_reply[] = {
    { "input", FIELD_STRING, ALWAYS, .help = "name of the input" },
    { "run_id", FIELD_STRING, .help = "id for GET /v1/runs/{id}" },
    { "verdict", FIELD_STRING, .one_of = verdict_words, .help = "how the run ended" },
    { "exit_code", FIELD_INT, .help = "as in a result" },
    { "signal", FIELD_STRING, .nullable = true, .help = "as in a result" },
    STREAM_ROWS,
    { "stdout_truncated", FIELD_BOOL, .help = "true if limits.output cut it" },
    { "stderr_truncated", FIELD_BOOL, .help = "true if limits.output cut it" },
    { "usage", FIELD_OBJECT, .fields = usage_reply, .help = "resources that the run used" },
    { "limits_hit", FIELD_STRINGS, .help = "keys of limits that were reached" },
    { "error", FIELD_STRING, .help = "the reason why the run did not start" },
    { "state", FIELD_STRING, .help = "skipped, if the run never started" },
    { .schema = "ComparedRun" },
};
static const struct api_field variant_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "as in the request, or variant-N" },
    { "language", FIELD_STRING, OR_NULL, .help = "its name in GET /v1/languages" },
    { "version", FIELD_STRING, OR_NULL, .help = "version of the interpreter or compiler" },
    { "runs", FIELD_OBJECTS, ALWAYS, .fields = compared_run_reply, .help = "one for each input" },
    { "total", FIELD_OBJECT, ALWAYS, .fields = usage_reply, .help = "of all runs of the variant" },
    { 0 },
};
static const struct api_field agreement_reply[] = {
    { "input", FIELD_STRING, ALWAYS, .help = "name of the input" },
    { "same_output", FIELD_BOOL, ALWAYS,
      .help = "true if all variants ended well, with the same output" },
    { "groups", FIELD_ANY, ALWAYS, .help = "lists of names of variants with the same output" },
    { 0 },
};
static const struct api_field fastest_reply[] = {
    { "input", FIELD_STRING, ALWAYS, .help = "name of the input" },
    { "variant", FIELD_STRING, OR_NULL, .help = "null if no variant ended well" },
    { "wall_ms", FIELD_NUMBER, OR_NULL, .help = "the time of that variant" },
    { 0 },
};
static const struct api_field comparison_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id for GET /v1/batches/{id}" },
    { "inputs", FIELD_STRINGS, ALWAYS, .help = "names of the inputs" },
    { "variants", FIELD_OBJECTS, ALWAYS, .fields = variant_reply, .help = "side by side" },
    { "agreement", FIELD_OBJECTS, ALWAYS, .fields = agreement_reply, .help = "by input" },
    { "fastest", FIELD_OBJECTS, ALWAYS, .fields = fastest_reply, .help = "by input" },
    { "wall_ms", FIELD_NUMBER, ALWAYS, .help = "time for all of them" },
    { .schema = "Comparison" },
};
static const struct api_field comparison_event_reply[] = {
    { "event", FIELD_STRING, ALWAYS, .one_of = group_event_words, .help = "kind of the event" },
    { "seq", FIELD_INT, ALWAYS, .help = "1, 2, …" },
    { "index", FIELD_INT, .help = "of result: number of the run" },
    { "variant", FIELD_STRING, .help = "of result: name of the variant" },
    { "result", FIELD_OBJECT, .fields = compared_run_reply, .help = "of result" },
    { .schema = "ComparisonEvent",
      .fields = comparison_reply,
      .help = "The last event, done, has all fields of a comparison" },
};

/* One variant on one input. */
struct compared_cell {
    json_t *run;                /* for the answer */
    json_t *language, *version; /* NULL while not known */
    bool ran;
    enum verdict verdict;
    struct usage usage;
    unsigned char digest[crypto_generichash_BYTES]; /* of the parts of stdout that are compared */
};

struct comparison {
    struct group group; /* first: see comparison_of() */
    struct group_answer answer;
    const json_t *variants;
    json_t *inputs;
    json_t *variant_names, *input_names;
    size_t n_variants, n_inputs;
    enum compare_mode compare;
    struct compared_cell *cells; /* in the order of the group's items */
};

static struct comparison *comparison_of(struct group *g)
{
    return (struct comparison *)g;
}

static struct compared_cell *cell_at(const struct comparison *m, size_t variant, size_t input)
{
    return &m->cells[input * m->n_variants + variant];
}

static json_t *variant_request(const json_t *variant)
{
    json_t *request = json_copy((json_t *)variant);
    (void)json_object_del(request, "name");
    return request;
}

static json_t *comparison_request(const struct group *g, size_t k)
{
    const struct comparison *m = (const struct comparison *)g;
    json_t *variant = variant_request(json_array_get(m->variants, k % m->n_variants));
    json_t *request = variant ? request_with_input(variant,
                                                   json_array_get(m->inputs, k / m->n_variants))
                              : NULL;
    json_decref(variant);
    return request;
}

/* Outputs that output_same() calls the same have the same digest, so no output has to be kept. */
static int digest_output(enum compare_mode mode, const struct run *x,
                         unsigned char out[crypto_generichash_BYTES], struct err *e)
{
    scoped(buf) b = { 0 };
    crypto_generichash_state state;
    struct output_cursor c;
    struct output_piece p;
    if (journal_collect(&x->journal, JOURNAL_STDOUT, UINT64_MAX, &b, e))
        return -1;
    (void)crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES);
    output_cursor_init(&c, mode, b.data, b.len);
    while (output_next(&c, &p)) {
        uint64_t len = p.len;
        (void)crypto_generichash_update(&state, (const unsigned char *)&len, sizeof len);
        (void)crypto_generichash_update(&state, (const unsigned char *)p.bytes, p.len);
    }
    (void)crypto_generichash_final(&state, out, crypto_generichash_BYTES);
    return 0;
}

/* The fields of a result that are compared side by side; /v1/runs/{run_id} has the rest. */
static void add_run(struct compared_cell *cell, const struct run *x, uint64_t inline_max)
{
    static const char *const keys[] = {
        "verdict",          "exit_code",     "signal",        "stdout",
        "stderr",           "stdout_base64", "stderr_base64", "stdout_truncated",
        "stderr_truncated", "stdout_cut",    "stderr_cut",    "usage",
        "limits_hit",       "error",
    };
    json_t *result = run_result_object(x, inline_max);
    json_put(cell->run, "run_id", json_string(x->id));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_t *value = json_object_get(result, keys[i]);
        if (value)
            (void)json_object_set(cell->run, keys[i], value);
    }
    cell->language = json_incref(json_object_get(result, "language"));
    cell->version = json_incref(json_object_get(result, "version"));
    json_decref(result);
}

static void send_run(struct comparison *m, size_t k)
{
    static const char *const streams[] = { "stdout", "stderr", "stdout_base64", "stderr_base64" };
    json_t *run = m->cells[k].run;
    if (!m->answer.streamed && m->group.call->http)
        return;
    json_t *event = json_object();
    json_put(event, "index", json_integer((json_int_t)k));
    json_put(event, "variant", json_incref(json_array_get(m->variant_names, k % m->n_variants)));
    json_put(event, "result", json_incref(run));
    group_answer_event(&m->answer, "result", event);
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) /* sent once, or the client is gone */
        (void)json_object_del(run, streams[i]);
}

static bool comparison_finished(struct group *g, size_t k, const struct run *x, const struct err *e)
{
    struct comparison *m = comparison_of(g);
    struct compared_cell *cell = &m->cells[k];
    struct err failure = { 0 };
    cell->verdict = VERDICT_INTERNAL_ERROR;
    cell->run = json_object();
    json_put(cell->run, "input", json_incref(json_array_get(m->input_names, k / m->n_variants)));
    if (x) {
        add_run(cell, x, group_inline_max(g));
        cell->ran = true;
        cell->usage = x->result.usage;
        cell->verdict = x->result.verdict;
        if (digest_output(m->compare, x, cell->digest, &failure)) {
            cell->verdict = VERDICT_INTERNAL_ERROR;
            e = &failure;
        }
    }
    if (e) {
        json_put(cell->run, "verdict", json_string(verdict_word(cell->verdict)));
        json_put(cell->run, "error", json_string(ERR_SHOWN(e)));
    }
    send_run(m, k);
    return false;
}

static void comparison_skipped(struct group *g, size_t k)
{
    struct comparison *m = comparison_of(g);
    json_t *run = m->cells[k].run = json_object();
    m->cells[k].verdict = VERDICT_CANCELLED;
    json_put(run, "input", json_incref(json_array_get(m->input_names, k / m->n_variants)));
    json_put(run, "state", json_string("skipped"));
    send_run(m, k);
}

/* ---- side by side ---- */

static json_t *variant_object(const struct comparison *m, size_t v)
{
    const json_t *variant = json_array_get(m->variants, v);
    json_t *o = json_object(), *runs = json_array(), *version = NULL;
    json_t *language = json_object_get(variant, "language"); /* the proper name, once it ran */
    struct usage total = { 0 };
    for (size_t i = 0; i < m->n_inputs; i++) {
        const struct compared_cell *cell = cell_at(m, v, i);
        (void)json_array_append(runs, cell->run);
        total.wall_us += cell->usage.wall_us;
        total.cpu_us += cell->usage.cpu_us;
        if (cell->usage.memory_peak_bytes > total.memory_peak_bytes)
            total.memory_peak_bytes = cell->usage.memory_peak_bytes;
        version = cell->version ? cell->version : version;
        language = cell->language ? cell->language : language;
    }
    json_put(o, "name", json_incref(json_array_get(m->variant_names, v)));
    json_put(o, "language", language ? json_incref(language) : json_null());
    json_put(o, "version", version ? json_incref(version) : json_null());
    json_put(o, "runs", runs);
    json_put(o, "total",
             json_pack("{s:f, s:f, s:I}", "wall_ms", (double)total.wall_us / 1000, "cpu_ms",
                       (double)total.cpu_us / 1000, "memory_peak_bytes",
                       (json_int_t)total.memory_peak_bytes));
    return o;
}

static bool cells_agree(const struct compared_cell *a, const struct compared_cell *b)
{
    return a->ran && b->ran && a->verdict == b->verdict &&
           memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

/* The groups of variants with the same output on an input. A variant that failed agrees only with
 * variants that have the same verdict. */
static json_t *agreement_object(const struct comparison *m, size_t input)
{
    json_t *o = json_object(), *groups = json_array();
    bool all_ok = true;
    for (size_t v = 0; v < m->n_variants; v++) {
        const struct compared_cell *cell = cell_at(m, v, input);
        size_t first = 0;
        all_ok = all_ok && cell->ran && cell->verdict == VERDICT_OK;
        while (first < v && !cells_agree(cell_at(m, first, input), cell))
            first++;
        if (first < v)
            continue;
        json_t *names = json_array(); /* the first of its group gathers the others */
        for (size_t other = v; other < m->n_variants; other++) {
            if (other == v || cells_agree(cell, cell_at(m, other, input)))
                (void)json_array_append(names, json_array_get(m->variant_names, other));
        }
        (void)json_array_append_new(groups, names);
    }
    json_put(o, "input", json_incref(json_array_get(m->input_names, input)));
    json_put(o, "same_output", json_boolean(all_ok && json_array_size(groups) == 1));
    json_put(o, "groups", groups);
    return o;
}

/* The fastest variant that ended well; null if there is none. */
static json_t *fastest_object(const struct comparison *m, size_t input)
{
    json_t *o = json_object();
    const struct compared_cell *best = NULL;
    size_t best_variant = 0;
    for (size_t v = 0; v < m->n_variants; v++) {
        const struct compared_cell *cell = cell_at(m, v, input);
        if (cell->ran && cell->verdict == VERDICT_OK &&
            (!best || cell->usage.wall_us < best->usage.wall_us)) {
            best = cell;
            best_variant = v;
        }
    }
    json_put(o, "input", json_incref(json_array_get(m->input_names, input)));
    json_put(o, "variant",
             best ? json_incref(json_array_get(m->variant_names, best_variant)) : json_null());
    json_put(o, "wall_ms", best ? json_real((double)best->usage.wall_us / 1000) : json_null());
    return o;
}

static void comparison_free(struct comparison *m)
{
    for (size_t k = 0; m->cells && k < m->group.n; k++) {
        json_decref(m->cells[k].run);
        json_decref(m->cells[k].language);
        json_decref(m->cells[k].version);
    }
    free(m->cells);
    json_decref(m->inputs);
    json_decref(m->variant_names);
    json_decref(m->input_names);
    group_done(&m->group);
    free(m);
}

static void comparison_done(struct group *g)
{
    struct comparison *m = comparison_of(g);
    struct group_answer answer = m->answer;
    json_t *o = json_object(), *variants = json_array(), *agreement = json_array(),
           *fastest = json_array();
    for (size_t v = 0; v < m->n_variants; v++)
        (void)json_array_append_new(variants, variant_object(m, v));
    for (size_t i = 0; i < m->n_inputs; i++) {
        (void)json_array_append_new(agreement, agreement_object(m, i));
        (void)json_array_append_new(fastest, fastest_object(m, i));
    }
    json_put(o, "id", json_string(g->id));
    json_put(o, "inputs", json_incref(m->input_names));
    json_put(o, "variants", variants);
    json_put(o, "agreement", agreement);
    json_put(o, "fastest", fastest);
    json_put(o, "wall_ms", json_real(group_wall_ms(g)));
    g->call->on_gone = g->call->on_half_close = NULL;
    comparison_free(m); /* first: the body of the call may be gone afterwards */
    group_answer_end(&answer, o);
}

static const struct group_ops comparison_ops = {
    .request = comparison_request,
    .finished = comparison_finished,
    .skipped = comparison_skipped,
    .done = comparison_done,
};

/* ---- POST /v1/comparisons ---- */

static void client_gone(struct api_call *c)
{
    struct comparison *m = c->user;
    if (json_is_true(json_object_get(c->body, "cancel_on_disconnect")))
        group_stop(&m->group);
}

/* Names identify runs in the answer, so they must be unique. */
static int gather_names(const json_t *list, const char *list_name, const char *prefix, json_t **ret,
                        char field[128], struct err *e)
{
    *ret = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *name = name_or_number(json_array_get(list, i), prefix, i);
        for (size_t j = 0; j < i; j++) {
            if (!json_equal(json_array_get(*ret, j), name))
                continue;
            json_decref(name);
            (void)snprintf(field, 128, "%s[%zu].name", list_name, i);
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "%s[%zu].name '%s' is already the name of %s[%zu]: names must be unique",
                           list_name, i, QUOTED(json_string_value(name)), list_name, j);
        }
        if (json_array_append_new(*ret, name))
            return err_no_memory(e, "the names");
    }
    return 0;
}

static int check_variants(const struct comparison *m, struct group_check *k, char field[128],
                          struct err *e)
{
    for (size_t v = 0; v < m->n_variants; v++) {
        char prefix[32];
        json_t *request = variant_request(json_array_get(m->variants, v));
        (void)snprintf(prefix, sizeof prefix, "variants[%zu]", v);
        int rc = request ? group_check_run(k, request, prefix, field, e)
                         : err_no_memory(e, "the variants");
        if (rc == 0 && v == 0) /* inputs are checked with one variant */
            rc = group_check_inputs(k, request, m->inputs, field, e);
        json_decref(request);
        if (rc)
            return -1;
    }
    return 0;
}

static int read_parts(struct comparison *m, const struct api *api, const json_t *body,
                      char field[128], struct err *e)
{
    json_t *inputs = json_object_get(body, "inputs");
    m->variants = json_object_get(body, "variants");
    m->inputs = inputs ? json_incref(inputs) : json_pack("[{}]");
    m->n_variants = json_array_size(m->variants);
    m->n_inputs = json_array_size(m->inputs);
    (void)snprintf(field, 128, "%s", m->n_inputs == 0 ? "inputs" : "variants");
    return group_check_count(api, "variants times inputs", m->n_variants * m->n_inputs, e);
}

/* In a thread, for a large body. */
static int comparison_check(struct api_call *c, const struct api *here, const struct buf *bytes,
                            char *field, size_t size, struct err *e)
{
    struct comparison m = { 0 };
    char where[128] = "";
    (void)bytes;
    struct group_check *k = group_check_in_thread(c, here);
    int rc = !k ? err_no_memory(e, "the variants")
                : read_parts(&m, here, c->body, where, e) || check_variants(&m, k, where, e);
    json_decref(m.inputs);
    if (rc)
        (void)snprintf(field, size, "%s", where);
    return rc ? -1 : 0;
}

static int comparison_prepare(struct comparison *m, struct api_call *c, char field[128],
                              struct err *e)
{
    scoped(group_check) k = { .api = c->api, .who = &c->who };
    m->group.call = c;
    m->compare = compare_parse(json_string_value(json_object_get(c->body, "compare")));
    if (read_parts(m, c->api, c->body, field, e) ||
        group_init(&m->group, &comparison_ops, c, "cmp_", m->n_variants * m->n_inputs, e))
        return -1;
    size_t n = m->group.n;
    (void)snprintf(field, 128, "parallel");
    if (group_set_parallel(&m->group, e) ||
        gather_names(m->variants, "variants", "variant", &m->variant_names, field, e) ||
        gather_names(m->inputs, "inputs", "input", &m->input_names, field, e) ||
        (c->prepared ? group_check_here(c->api, c->prepared, field, e)
                     : check_variants(m, &k, field, e)))
        return -1;
    m->cells = calloc(n, sizeof *m->cells);
    return m->cells ? 0 : err_no_memory(e, "the results");
}

static void comparison_post(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "";
    struct comparison *m = calloc(1, sizeof *m);
    if (!m) {
        api_fail_no_memory(c);
        return;
    }
    if (comparison_prepare(m, c, field, &e)) {
        comparison_free(m);
        api_fail(c, &e, err_blame(e.code) == BLAME_CALLER ? field : NULL);
        return;
    }
    c->user = m;
    c->on_gone = c->on_half_close = client_gone; /* an orderly close is seen as the latter */
    group_answer_begin(&m->answer, c);
    group_start(&m->group);
}

const struct api_route comparison_routes[] = {
    { METHOD_POST, "/v1/comparisons", SCOPE_RUN, .body = comparison_fields,
      .handle = comparison_post, .prepare = comparison_check,
      .summary = "Run variants of a program on the same inputs, side by side",
      .replies = REPLIES({ 200, .fields = comparison_reply },
                         EVENT_REPLIES(comparison_event_reply)) },
    { 0 },
};
