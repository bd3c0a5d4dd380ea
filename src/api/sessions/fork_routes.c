/* POST /v1/sessions/{id}/fork: copies of a session, each in a jar of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/storage.h"
#include "api/runs/network_request.h"
#include "api/runs/run_spec.h"
#include "api/sessions/checkpoint_find.h"
#include "api/sessions/session_find.h"
#include "base/strv.h"
#include "run/json.h"

enum { NAME_MAX_BYTES = 200 };

static const struct api_field fork_fields[] = {
    { "count", FIELD_INT, .min = 1, .max = FORKS_MAX, .help = "number of copies; 1 by default" },
    { "names", FIELD_STRINGS, .max = FORKS_MAX, .help = "names of the copies, in their order" },
    { "strict", FIELD_BOOL,
      .help = "true: refuse if a thread, a child, a pipe or a socket would be lost" },
    NETWORK_FIELD,
    { "from", FIELD_ANY,
      .help =
          "id or name of a checkpoint, or the number of a cell: the copies have the state after "
          "it; the present state by default" },
    { 0 },
};

struct fork_call {
    struct session_fork fork;
    struct api_call *call;
    struct network_policy network;
};

static void fork_call_free(struct fork_call *f)
{
    strv_free(f->fork.names);
    json_decref(f->fork.not_carried);
    network_policy_done(&f->network);
    free(f);
}

static void on_forked(struct session_fork *fork, const struct err *e)
{
    struct fork_call *f = (struct fork_call *)fork;
    if (e) {
        api_fail(f->call, e, NULL);
        fork_call_free(f);
        return;
    }
    json_t *list = json_array(), *lost = fork->not_carried;
    for (unsigned i = 0; i < fork->count; i++)
        (void)json_array_append_new(list, session_object(fork->copies[i]));
    api_reply(f->call, 201,
              json_pack("{s:o, s:o, s:f, s:f, s:I}", "sessions", list, "not_carried",
                        lost ? json_incref(lost) : json_array(), "pause_ms",
                        (double)fork->pause_us / 1000, "write_ms", (double)fork->write_us / 1000,
                        "image_bytes", (json_int_t)fork->image_bytes));
    fork_call_free(f);
}

static int take_names(const json_t *list, unsigned count, char ***ret, struct err *e)
{
    size_t n = json_array_size(list);
    if (n > count)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "there are %zu names for %u copies: give at most one for each", n, count);
    char **names = calloc(n + 1, sizeof *names);
    for (size_t i = 0; names && i < n; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        size_t bytes = strlen(name);
        if (bytes < 1 || bytes > NAME_MAX_BYTES) {
            strv_free(names);
            return err_set(e, ERR_BAD_REQUEST, 0, "name %zu has %zu bytes: 1 to %d are accepted",
                           i + 1, bytes, NAME_MAX_BYTES);
        }
        names[i] = strdup(name);
        if (!names[i]) {
            strv_free(names);
            names = NULL;
        }
    }
    *ret = names;
    return names ? 0 : err_no_memory(e, "the names of a fork");
}

/* A list for the copies, which opens no more than that of the session. */
static int take_network(struct fork_call *f, const struct session *s, char *field, size_t size,
                        struct err *e)
{
    const json_t *given = json_object_get(f->call->body, "network");
    const struct network_rule *outside;
    if (!given)
        return 0;
    if (network_from_json(f->call->api, f->call->who.key, given, &f->network, field, size, e))
        return -1;
    (void)snprintf(field, size, "network");
    if (!network_policy_is_within(&f->network, &s->spec.network, &outside) ||
        !network_policy_has_injects(&s->spec.network, &f->network))
        return err_set(e, ERR_DENIED, 0,
                       "the list of a copy is within that of its session: change that of the "
                       "copy afterwards, with PATCH /v1/sessions/{id}");
    f->fork.network = &f->network;
    return 0;
}

static void post_fork(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = session_to_use(c);
    if (!s)
        return;
    char field[128] = "";
    struct fork_call *f = calloc(1, sizeof *f);
    if (!f) {
        api_fail_no_memory(c);
        return;
    }
    const json_t *count = json_object_get(c->body, "count");
    f->call = c;
    f->fork.on_done = on_forked;
    f->fork.count = count ? (unsigned)json_integer_value(count) : 1;
    f->fork.strict = run_flag(c->body, "strict", false);
    const json_t *from = json_object_get(c->body, "from");
    if (take_names(json_object_get(c->body, "names"), f->fork.count, &f->fork.names, &e)) {
        fork_call_free(f);
        api_fail(c, &e, "names");
    } else if (take_network(f, s, field, sizeof field, &e)) {
        fork_call_free(f);
        api_fail(c, &e, field);
    } else if (from && checkpoint_from_json(s, from, &f->fork.from, &e)) {
        fork_call_free(f);
        api_fail(c, &e, "from");
    } else if (storage_check(c->api, &e) || session_fork(s, &f->fork, &e)) {
        fork_call_free(f);
        api_fail(c, &e, NULL);
    }
}

static const struct api_field fork_reply[] = {
    { "sessions", FIELD_OBJECTS, ALWAYS, .fields = session_reply, .help = "the copies, idle" },
    { "not_carried", FIELD_STRINGS, ALWAYS,
      .help = "threads, children, pipes and sockets that the copies do not have; words of the "
              "session's program" },
    { "pause_ms", FIELD_NUMBER, ALWAYS,
      .help = "the original could run no cell for this time; measured by its program" },
    { "write_ms", FIELD_NUMBER, ALWAYS,
      .help =
          "time to write the image, while the original goes on; measured by its program; 0 with "
          "'from'" },
    { "image_bytes", FIELD_INT, ALWAYS, .help = "size of the image that the copies share" },
    { .schema = "Fork" },
};

const struct api_route session_fork_routes[] = {
    { METHOD_POST, "/v1/sessions/{id}/fork", SCOPE_RUN, .flags = ROUTE_BODY_OPTIONAL,
      .body = fork_fields, .handle = post_fork,
      .summary = "Copies of a session with all its variables and files, each in a jar of its own",
      .replies = REPLIES({ 201, .fields = fork_reply }) },
    { 0 },
};
