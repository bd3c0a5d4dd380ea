#include "api/sessions/cell_submit.h"

#include "api/runs/mount_request.h"
#include "api/runs/network_request.h"
#include "api/runs/run_spec.h"
#include "api/runs/submit.h"
#include "run/json.h"

/* The request as POST /v1/runs has it, for rules, approvers and the history. */
static json_t *run_request(const struct session *s, const struct cell *cell,
                           const struct cell_request *q)
{
    const struct limits *l = &s->spec.cell_limits;
    json_t *o = json_pack("{s:s, s:O, s:s, s:i, s:{s:I, s:I, s:I}}", "language",
                          s->spec.language->name, "code", q->code, "thread_id", s->id, "cell",
                          (int)cell->number, "limits", limit_defs[LIMIT_WALL_MS].key,
                          (json_int_t)cell->wall_ms, limit_defs[LIMIT_CPU_MS].key,
                          (json_int_t)l->v[LIMIT_CPU_MS], limit_defs[LIMIT_OUTPUT].key,
                          (json_int_t)l->v[LIMIT_OUTPUT]);
    if (q->metadata)
        (void)json_object_set(o, "metadata", q->metadata);
    if (q->stdin_text)
        (void)json_object_set(o, "stdin", q->stdin_text);
    if (q->env)
        json_put(o, "env", json_deep_copy(q->env));
    if (cell->silent)
        json_put(o, "silent", json_true());
    if (s->spec.network.mode != NETWORK_NONE)
        json_put(o, "network", network_to_json(&s->spec.network));
    if (s->spec.mounts)
        json_put(o, "mounts", mounts_to_json(s->spec.mounts));
    return o;
}

int cell_timeout(const struct api_call *c, const struct session *s, uint64_t *ret, struct err *e)
{
    const json_t *v = json_object_get(c->body, "timeout");
    uint64_t most = c->api->settings->limit_max.v[LIMIT_WALL_MS];
    *ret = v ? (uint64_t)(json_number_value(v) * 1000) : s->spec.cell_limits.v[LIMIT_WALL_MS];
    if (*ret == 0)
        *ret = 1;
    if (*ret <= most)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "timeout %g is above the maximum of this service: up to %g seconds are accepted",
                   json_number_value(v), (double)most / 1000);
}

int cell_submit(struct api_call *c, struct session *s, const struct cell_request *q,
                struct run **ret, char *ret_field, size_t field_size, struct err *e)
{
    struct run_spec spec = { 0 };
    struct cell *cell;
    if (session_check_held(s, e) || session_check_room(s, e) || cell_new(s, q->silent, &cell, e))
        return -1;
    cell->wall_ms = q->wall_ms;
    cell->reads_stdin = q->reads_stdin;
    cell->options = q->options ? json_dumps(q->options, JSON_COMPACT) : NULL;
    json_auto_t *request = run_request(s, cell, q);
    if (run_spec_from_json(c->api, &c->who, request, "session", &spec, ret_field, field_size, e)) {
        cell_drop(cell);
        return -1;
    }
    spec.host = &s->host;
    if (api_submit(c->api, &spec, q->permission_mode, SUBMIT_UNBOUNDED, &cell->watch, ret, e)) {
        cell_drop(cell);
        return -1;
    }
    cell_set_run(cell, *ret);
    return 0;
}
