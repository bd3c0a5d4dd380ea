/* /v1/keys: making, listing and removing API keys. Each change is one transaction with its audit record. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/auth.h"
#include "base/clock.h"
#include "run/result.h"

static json_t *scopes_json(scope_set set)
{
    json_t *list = json_array();
    for (int i = 0; i < SCOPE_COUNT_; i++)
        if (set & SCOPE_BIT(i))
            (void)json_array_append_new(list, json_string(scope_word((enum scope)i)));
    return list;
}

static json_t *key_json(const struct key_row *k)
{
    return json_pack("{s:s, s:o, s:I, s:o}", "name", k->name, "scopes", scopes_json(k->scopes),
                     "max_runs", (json_int_t)k->max_runs, "created_at",
                     result_time((uint64_t)k->created_ms));
}

static void get_keys(struct api_call *c)
{
    const struct api_keys *keys = c->api->keys;
    json_t *list = json_array();
    for (size_t i = 0; i < keys->n; i++)
        (void)json_array_append_new(list, key_json(&keys->rows[i]));
    api_reply(c, 200, json_pack("{s:o}", "keys", list));
}

/* ---- changes ---- */
struct change {
    struct store_job job;
    struct api *api;
    struct api_call *call;
    bool remove;
    struct key_row row; /* the new one, or the name of the old */
    char text[KEY_TEXT_MAX];
    char actor[KEY_NAME_MAX + 16];
    /* all keys, after the change: */
    struct key_row *rows;
    size_t n;
};

static int change_work(struct db *db, struct store_job *job, struct err *e)
{
    struct change *ch = (struct change *)job;
    if (ch->remove ? keys_remove(db, ch->row.name, ch->actor, clock_unix_ms(), e)
                   : keys_add(db, &ch->row, ch->actor, e))
        return -1;
    return keys_list(db, &ch->rows, &ch->n, e);
}

static void change_done(struct store_job *job)
{
    struct change *ch = (struct change *)job;
    if (job->err.code != ERR_NONE) {
        free(ch->rows);
        api_fail(ch->call, &job->err, job->err.code == ERR_CONFLICT ? "name" : NULL);
    } else {
        auth_replace(ch->api, ch->rows, ch->n);
        json_t *answer = ch->remove ? json_pack("{s:s, s:b}", "name", ch->row.name, "removed", 1)
                                    : key_json(&ch->row);
        if (!ch->remove) /* the only time that it is shown: we keep its hash alone */
            (void)json_object_set_new(answer, "key", json_string(ch->text));
        api_reply(ch->call, ch->remove ? 200 : 201, answer);
    }
    explicit_bzero(ch->text, sizeof ch->text);
    free(ch);
}

static struct change *change_new(struct api_call *c, const char *name, struct err *e)
{
    if (key_name_check(name, e))
        return NULL;
    struct change *ch = calloc(1, sizeof *ch);
    if (!ch) {
        (void)err_no_memory(e, "a key");
        return NULL;
    }
    ch->job = (struct store_job){ .work = change_work, .done = change_done };
    ch->api = c->api;
    ch->call = c;
    (void)snprintf(ch->row.name, sizeof ch->row.name, "%s", name);
    (void)snprintf(ch->actor, sizeof ch->actor, "%s", c->who.name);
    return ch;
}

static int scopes_of(const json_t *list, scope_set *ret, struct err *e)
{
    scope_set set = 0;
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word) {
        scope_set one;
        if (scopes_parse(json_string_value(word), &one, e))
            return -1;
        set |= one;
    }
    *ret = set;
    return 0;
}

static void post_key(struct api_call *c)
{
    struct err e = { 0 };
    scope_set scopes = 0;
    if (scopes_of(json_object_get(c->body, "scopes"), &scopes, &e)) {
        api_fail(c, &e, "scopes");
        return;
    }
    struct change *ch = change_new(c, json_string_value(json_object_get(c->body, "name")), &e);
    if (!ch) {
        api_fail(c, &e, "name");
        return;
    }
    ch->row.scopes = scopes;
    ch->row.max_runs = (uint32_t)json_integer_value(json_object_get(c->body, "max_runs"));
    ch->row.created_ms = clock_unix_ms();
    if (key_make(ch->text, ch->row.hash, &e)) {
        free(ch);
        api_fail(c, &e, NULL);
        return;
    }
    store_write(c->api->store, &ch->job);
}

static void delete_key(struct api_call *c)
{
    struct err e = { 0 };
    struct change *ch = change_new(c, c->params[0], &e);
    if (!ch) {
        api_fail(c, &e, NULL);
        return;
    }
    ch->remove = true;
    store_write(c->api->store, &ch->job);
}

static const char *const scope_words[] = {
#define X(id, word, help) word,
    SCOPE_TABLE(X)
#undef X
        NULL,
};

static const struct api_field key_fields[] = {
    { .name = "name",
      .type = FIELD_STRING,
      .required = true,
      .min = 1,
      .max = KEY_NAME_MAX,
      .help = "what to call it, in letters, digits, '-', '_' and '.'" },
    { .name = "scopes",
      .type = FIELD_STRINGS,
      .required = true,
      .min = 1,
      .max = SCOPE_COUNT_,
      .one_of = scope_words,
      .help = "what it may do; admin is everything" },
    { .name = "max_runs",
      .type = FIELD_INT,
      .min = 0,
      .max = 100000,
      .help = "how many runs it may have at a time; 0 is the setting runs.max_per_key" },
    { 0 },
};

const struct api_route key_routes[] = {
    { .method = METHOD_GET,
      .path = "/v1/keys",
      .scope = SCOPE_ADMIN,
      .handle = get_keys,
      .summary = "the API keys, without their texts" },
    { .method = METHOD_POST,
      .path = "/v1/keys",
      .scope = SCOPE_ADMIN,
      .body = key_fields,
      .handle = post_key,
      .summary = "make an API key; its text is shown once" },
    { .method = METHOD_DELETE,
      .path = "/v1/keys/{name}",
      .scope = SCOPE_ADMIN,
      .handle = delete_key,
      .summary = "remove an API key" },
    { 0 },
};
