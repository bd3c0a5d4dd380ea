/* /v1/keys: creating, listing and removing API keys. Each change and its audit record are one
 * transaction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/auth.h"
#include "api/kernel/job.h"
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
struct key_change {
    struct api_job job;
    bool remove;
    struct key_row row; /* the new key, or the name of the old one */
    char text[KEY_TEXT_MAX];
    char actor[KEY_NAME_MAX + 16];
    /* all keys, after the change: */
    struct key_row *rows;
    size_t n;
};

static int change_work(struct db *db, struct store_job *job, struct err *e)
{
    struct key_change *ch = (struct key_change *)job;
    if (ch->remove ? keys_remove(db, ch->row.name, ch->actor, clock_unix_ms(), e)
                   : keys_add(db, &ch->row, ch->actor, e))
        return -1;
    return keys_list(db, &ch->rows, &ch->n, e);
}

static void change_done(struct store_job *job)
{
    struct key_change *ch = (struct key_change *)job;
    if (job->err.code != ERR_NONE) {
        free(ch->rows);
        api_fail(ch->job.call, &job->err, job->err.code == ERR_CONFLICT ? "name" : NULL);
    } else {
        auth_replace(ch->job.call->api, ch->rows, ch->n, true);
        json_t *answer = ch->remove ? json_pack("{s:s, s:b}", "name", ch->row.name, "removed", 1)
                                    : key_json(&ch->row);
        if (!ch->remove) /* shown only here: the store has only its hash */
            (void)json_object_set_new(answer, "key", json_string(ch->text));
        api_reply(ch->job.call, ch->remove ? 200 : 201, answer);
    }
    explicit_bzero(ch->text, sizeof ch->text);
    free(ch);
}

/* NULL: the call was failed. `field`: the field that has the name. */
static struct key_change *change_new(struct api_call *c, const char *name, const char *field)
{
    struct err e = { 0 };
    if (key_name_check(name, &e)) {
        api_fail(c, &e, field);
        return NULL;
    }
    struct key_change *ch = api_job_new(c, sizeof *ch, change_work, change_done);
    if (!ch)
        return NULL;
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
    struct key_change *ch = change_new(c, api_text(c, "name"), "name");
    if (!ch)
        return;
    ch->row.scopes = scopes;
    ch->row.max_runs = (uint32_t)json_integer_value(json_object_get(c->body, "max_runs"));
    ch->row.created_ms = clock_unix_ms();
    if (key_make(ch->text, ch->row.hash, &e)) {
        free(ch);
        api_fail(c, &e, NULL);
        return;
    }
    api_job_write(&ch->job);
}

static void delete_key(struct api_call *c)
{
    struct key_change *ch = change_new(c, c->params[0], NULL);
    if (!ch)
        return;
    ch->remove = true;
    api_job_write(&ch->job);
}

/* ---- fields ---- */
static const char *const scope_words[] = { SCOPE_TABLE(FIELD_WORD) NULL };

static const struct api_field key_fields[] = {
    { "name", FIELD_STRING, .required = true, .min = 1, .max = KEY_NAME_MAX,
      .help = "name of the key, in letters, digits, '-', '_' and '.'" },
    { "scopes", FIELD_STRINGS, .required = true, .min = 1, .max = SCOPE_COUNT_,
      .one_of = scope_words, .help = "the rights of the key; admin is every right" },
    { "max_runs", FIELD_INT, .min = 0, .max = 100000,
      .help = "number of runs at a time; 0 is the setting runs.max_per_key" },
    { 0 },
};

/* clang-format off */
#define KEY_ROWS                                                                                \
    { "name", FIELD_STRING, ALWAYS, .help = "name of the key" },                                \
    { "scopes", FIELD_STRINGS, ALWAYS, .help = "the rights of the key" },                       \
    { "max_runs", FIELD_INT, ALWAYS,                                                            \
      .help = "number of runs at a time; 0 is the setting runs.max_per_key" },                  \
    { "created_at", FIELD_STRING, OR_NULL, .help = "time at which the key was created" }
/* clang-format on */
static const struct api_field key_reply[] = {
    KEY_ROWS,
    { .schema = "Key" },
};
static const struct api_field new_key_reply[] = {
    KEY_ROWS,
    { "key", FIELD_STRING, ALWAYS, .help = "the text of the key, shown only here" },
    { .schema = "NewKey" },
};
static const struct api_field key_list_reply[] = {
    { "keys", FIELD_OBJECTS, ALWAYS, .fields = key_reply, .help = "every key" },
    { .schema = "KeyList" },
};
static const struct api_field key_removed_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "name of the key" },
    { "removed", FIELD_BOOL, ALWAYS, .help = "true" },
    { .schema = "KeyRemoved" },
};

const struct api_route key_routes[] = {
    { METHOD_GET, "/v1/keys", SCOPE_ADMIN, .handle = get_keys,
      .summary = "The API keys, without their texts",
      .replies = REPLIES({ 200, .fields = key_list_reply }) },
    { METHOD_POST, "/v1/keys", SCOPE_ADMIN, .body = key_fields, .handle = post_key,
      .summary = "Create an API key; its text is shown once",
      .replies = REPLIES({ 201, .fields = new_key_reply }) },
    { METHOD_DELETE, "/v1/keys/{name}", SCOPE_ADMIN, .handle = delete_key,
      .summary = "Remove an API key", .replies = REPLIES({ 200, .fields = key_removed_reply }) },
    { 0 },
};
