#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "api/doors/door_submit.h"
#include "api/doors/piston/piston.h"
#include "api/runs/run_result.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

/* Piston's words for the end of a program; its messages are those of isolate. */
static void end_by_kill(struct piston_end *r, const char *status, const char *message)
{
    r->status = status;
    r->code = -1;
    (void)snprintf(r->signal, sizeof r->signal, "SIGKILL");
    (void)snprintf(r->message, sizeof r->message, "%s", message);
}

static void end_by_itself(struct piston_end *r, int code, int number)
{
    r->code = number ? -1 : code;
    if (number) {
        (void)door_signal_name(number, r->signal, sizeof r->signal);
        r->status = "SG";
        (void)snprintf(r->message, sizeof r->message, "Caught fatal signal %d", number);
    } else if (code) {
        r->status = "RE";
        (void)snprintf(r->message, sizeof r->message, "Exited with error status %d", code);
    }
}

static void end_without_program(struct piston_end *r, const char *why)
{
    r->status = "XX";
    r->code = -1;
    (void)snprintf(r->message, sizeof r->message, "%s", why);
}

struct piston_end piston_end_of_run(const struct result *x)
{
    struct piston_end r = { 0 };
    char why[400];
    switch (x->verdict) {
    case VERDICT_TIMEOUT:
        end_by_kill(&r, "TO", "Time limit exceeded (wall clock)");
        break;
    case VERDICT_CPU_TIMEOUT:
        end_by_kill(&r, "TO", "Time limit exceeded");
        break;
    case VERDICT_OUTPUT_LIMIT:
        end_by_kill(&r, x->truncated[0] ? "OL" : "EL",
                    x->truncated[0] ? "stdout length exceeded" : "stderr length exceeded");
        break;
    case VERDICT_MEMORY_LIMIT:
        end_by_kill(&r, "SG", "Caught fatal signal 9");
        break;
    case VERDICT_CANCELLED:
    case VERDICT_REJECTED:
    case VERDICT_INTERNAL_ERROR:
        end_without_program(&r, run_end_sentence(x, why, sizeof why) ? why : "it did not run");
        break;
    default:
        end_by_itself(&r, x->evidence.exit_code, x->evidence.signal);
    }
    return r;
}

struct piston_end piston_end_of_compiler(const json_t *compile)
{
    struct piston_end r = { 0 };
    const char *verdict = json_string_value(json_object_get(compile, "verdict"));
    int code = (int)json_integer_value(json_object_get(compile, "exit_code"));
    if (!verdict || strcmp(verdict, "timeout") == 0)
        end_by_kill(&r, "TO", "Time limit exceeded (wall clock)");
    else if (strcmp(verdict, "cpu_timeout") == 0)
        end_by_kill(&r, "TO", "Time limit exceeded");
    else if (strcmp(verdict, "output_limit") == 0)
        end_by_kill(&r, "OL", "stdout length exceeded");
    else if (code > 128 && code < 128 + NSIG)
        end_by_itself(&r, 0, code - 128);
    else
        end_by_itself(&r, code, 0);
    return r;
}

bool piston_compile_failed(const struct result *r)
{
    return r->verdict == VERDICT_COMPILE_ERROR;
}

static json_t *text_json(const struct buf *raw)
{
    struct err e;
    scoped(buf) text = { 0 };
    if (text_add_utf8(&text, buf_str(raw), raw->len, &e))
        return NULL;
    return json_stringn_nocheck(buf_str(&text), text.len);
}

static json_t *stage_json(const struct piston_end *end, json_t *out, json_t *err, json_t *both,
                          const struct usage *u)
{
    json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:s?, s:s?, s:s?}", "stdout", out, "stderr", err,
                          "output", both, "code",
                          end->code < 0 ? json_null() : json_integer(end->code), "signal",
                          end->signal[0] ? end->signal : NULL, "message",
                          end->message[0] ? end->message : NULL, "status", end->status);
    json_put(o, "cpu_time", json_integer((json_int_t)((u->cpu_us + 500) / 1000)));
    json_put(o, "wall_time", json_integer((json_int_t)((u->wall_us + 500) / 1000)));
    json_put(o, "memory", json_integer((json_int_t)u->memory_peak_bytes));
    return o;
}

/* stdout and stderr, and both in the order in which they came. */
static json_t *run_stage(const struct run *x)
{
    struct journal_reader at = { 0 };
    struct journal_record record = { 0 };
    scoped(buf) out = { 0 };
    scoped(buf) err = { 0 };
    scoped(buf) both = { 0 };
    struct err e;
    bool more = true, failed = false;
    while (!failed && !(failed = journal_next(&x->journal, &at, &record, &more, &e)) && more) {
        struct buf *to = record.kind == JOURNAL_STDOUT   ? &out
                         : record.kind == JOURNAL_STDERR ? &err
                                                         : NULL;
        failed = to && (buf_add(to, buf_str(&record.bytes), record.bytes.len, &e) ||
                        buf_add(&both, buf_str(&record.bytes), record.bytes.len, &e));
    }
    buf_done(&record.bytes);
    if (failed)
        return NULL;
    struct piston_end end = piston_end_of_run(&x->result);
    return stage_json(&end, text_json(&out), text_json(&err), text_json(&both), &x->result.usage);
}

static json_t *compile_stage(const json_t *compile)
{
    struct piston_end end = piston_end_of_compiler(compile);
    json_t *out = json_object_get(compile, "stdout"), *err = json_object_get(compile, "stderr");
    const json_t *usage = json_object_get(compile, "usage");
    scoped(buf) both = { 0 };
    struct err e;
    const struct usage u = {
        .cpu_us = (uint64_t)(json_number_value(json_object_get(usage, "cpu_ms")) * 1000),
        .wall_us = (uint64_t)(json_number_value(json_object_get(usage, "wall_ms")) * 1000),
        .memory_peak_bytes = (uint64_t)json_integer_value(
            json_object_get(usage, "memory_peak_bytes")),
    };
    if (buf_addf(&both, &e, "%s%s", json_is_string(out) ? json_string_value(out) : "",
                 json_is_string(err) ? json_string_value(err) : ""))
        return NULL;
    return stage_json(&end, json_incref(out), json_incref(err), text_json(&both), &u);
}

json_t *piston_result(const struct run *x, const struct piston_runtime *r)
{
    char version[PISTON_VERSION_SIZE];
    const json_t *compile = json_object_get(x->result_json, "compile");
    json_t *o = json_pack("{s:s, s:s}", "language", r->name, "version", piston_version(r, version));
    json_t *stage = json_is_object(compile) ? compile_stage(compile) : NULL;
    if (stage && piston_compile_failed(&x->result))
        (void)json_object_set(o, "run", stage);
    else
        json_put(o, "run", run_stage(x));
    json_put(o, "compile", stage);
    return o;
}
