/* `belljar keys`: the API keys of the service. A running service makes the change, which is in
 * force when it has answered. Otherwise this process changes the database, so that the first key
 * can be made before the first start. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/commands/service_db.h"
#include "cli/run/remote.h"
#include "client/client.h"
#include "store/key_rows.h"

enum { MAX_RUNS = 1024, ANSWER_MAX = 1 << 16, ANSWER_MS = 30000 };

struct keys_options {
    const char *state, *name;
    scope_set scopes;
    unsigned max_runs;
    char actor[32];         /* our identity before we become the owner of the data */
    struct client *service; /* makes the change; NULL: no service runs */
};

static int set_scopes(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    (void)row;
    return scopes_parse(value, &((struct keys_options *)options)->scopes, e);
}

static int set_max_runs(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, MAX_RUNS, &((struct keys_options *)options)->max_runs, e);
}

static const char *scope_at(const void *def, size_t i)
{
    (void)def;
    return i < SCOPE_COUNT_ ? scope_word((enum scope)i) : NULL;
}

static const struct arg_row rows[] = {
    { "scopes", "LIST", .apply = set_scopes, .shows_words = true,
      .values = { VALUES_WORDS, scope_at },
      .help = "add: the rights of the key, separated by commas" },
    { "max-runs", "N", .apply = set_max_runs,
      .help = "add: runs at a time; otherwise the setting runs.max_per_key" },
    { "state", "DIR", .offset = offsetof(struct keys_options, state),
      .values.kind = VALUES_DIRECTORY, .help = "state directory of the service" },
};

/* --- by the service --- */

/* Root may have opened the connection, but the answer is read without the rights of root. */
static int ask(const struct keys_options *o, const struct client_request *q, struct err *e)
{
    if (service_db_become_owner(o->state, e))
        return -1;
    if (client_ask(o->service, q, ANSWER_MS, e))
        return e->code == ERR_UNAVAILABLE
                   ? err_set(e, ERR_UNAVAILABLE, 0,
                             "the service does not answer: 'belljar keys list' shows "
                             "whether the keys were changed")
                   : -1;
    return client_response(o->service)->status / 100 == 2 ? 0 : client_refusal(o->service, e);
}

static int read_text(const struct client *c, char ret_text[KEY_TEXT_MAX], struct err *e)
{
    size_t len;
    const char *body = client_body(c, &len);
    json_t *answer = json_loadb(body, len, 0, NULL);
    const char *text = json_string_value(json_object_get(answer, "key"));
    bool good = text && strlen(text) < KEY_TEXT_MAX;
    for (const char *p = text; good && *p; p++)
        good = isalnum((unsigned char)*p) || *p == '_' || *p == '-';
    if (good)
        (void)snprintf(ret_text, KEY_TEXT_MAX, "%s", text);
    json_decref(answer);
    return good ? 0
                : err_set(e, ERR_PROTOCOL, 0,
                          "the service sent no key: 'belljar keys list' shows whether it was made");
}

static int add_by_service(const struct keys_options *o, char ret_text[KEY_TEXT_MAX], struct err *e)
{
    json_t *scopes = json_array();
    for (int i = 0; i < SCOPE_COUNT_; i++)
        if (o->scopes & SCOPE_BIT(i))
            (void)json_array_append_new(scopes, json_string(scope_word((enum scope)i)));
    json_t *body = json_pack("{s:s, s:o, s:I}", "name", o->name, "scopes", scopes, "max_runs",
                             (json_int_t)o->max_runs);
    autofree char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    if (!text)
        return err_no_memory(e, "a request to the service");
    const struct client_request q = { .method = "POST",
                                      .path = "/v1/keys",
                                      .json = text,
                                      .json_len = strlen(text),
                                      .body_max = ANSWER_MAX };
    return ask(o, &q, e) || read_text(o->service, ret_text, e) ? -1 : 0;
}

static int remove_by_service(const struct keys_options *o, struct err *e)
{
    char path[KEY_NAME_MAX + 16];
    (void)snprintf(path, sizeof path, "/v1/keys/%s", o->name); /* letters, digits and "-_." */
    const struct client_request q = { .method = "DELETE", .path = path, .body_max = ANSWER_MAX };
    return ask(o, &q, e);
}

/* --- in the database --- */

static int add_directly(const struct keys_options *o, char ret_text[KEY_TEXT_MAX], struct err *e)
{
    scoped(service_db) h = { 0 };
    struct key_row row = { .scopes = o->scopes,
                           .max_runs = o->max_runs,
                           .created_ms = clock_unix_ms() };
    (void)snprintf(row.name, sizeof row.name, "%s", o->name);
    if (key_make(ret_text, row.hash, e) || service_db_open(&h, o->state, DB_WRITE, e) ||
        db_begin(h.db, e))
        return -1;
    if (keys_add(h.db, &row, o->actor, e) || db_commit(h.db, e)) {
        db_rollback(h.db);
        return -1;
    }
    return 0;
}

static int remove_directly(const struct keys_options *o, struct err *e)
{
    scoped(service_db) h = { 0 };
    if (service_db_open(&h, o->state, DB_WRITE, e) || db_begin(h.db, e))
        return -1;
    if (keys_remove(h.db, o->name, o->actor, clock_unix_ms(), e) || db_commit(h.db, e)) {
        db_rollback(h.db);
        return -1;
    }
    return 0;
}

/* --- the verbs --- */

static int add(const struct keys_options *o, struct err *e)
{
    char text[KEY_TEXT_MAX], scopes[64];
    if (key_name_check(o->name, e))
        return -1;
    if (o->scopes == 0)
        return err_set(e, ERR_USAGE, 0,
                       "a key needs --scopes: some of run, read, approve and admin, with commas");
    if (o->service ? add_by_service(o, text, e) : add_directly(o, text, e))
        return -1;
    (void)printf("%s\n", text);
    (void)fflush(stdout);
    (void)fprintf(stderr, "belljar: key '%s' has the scopes %s; it is not shown again\n", o->name,
                  scopes_format(o->scopes, scopes, sizeof scopes));
    return 0;
}

static int read_keys(const struct keys_options *o, struct key_row **ret, size_t *ret_n,
                     struct err *e)
{
    scoped(service_db) h = { 0 };
    return service_db_open(&h, o->state, DB_READ, e) || keys_list(h.db, ret, ret_n, e) ? -1 : 0;
}

static int remove_key(const struct keys_options *o, struct err *e)
{
    autofree struct key_row *left = NULL;
    size_t n = 0;
    if (key_name_check(o->name, e) ||
        (o->service ? remove_by_service(o, e) : remove_directly(o, e)) ||
        read_keys(o, &left, &n, e))
        return -1;
    if (n == 0)
        (void)fprintf(stderr,
                      "belljar: no key is left: only root and the user of the service can use "
                      "it, by its unix socket; 'belljar keys add NAME --scopes run,read' "
                      "makes a key\n");
    return 0;
}

static int list(const struct keys_options *o, struct err *e)
{
    autofree struct key_row *keys = NULL;
    size_t n = 0;
    if (read_keys(o, &keys, &n, e))
        return -1;
    if (n == 0)
        (void)fprintf(stderr, "belljar: there are no keys: 'belljar keys add NAME --scopes "
                              "run,read' makes one\n");
    for (size_t i = 0; i < n; i++) {
        char time[32], scopes[64], runs[16] = "-";
        if (keys[i].max_runs > 0)
            (void)snprintf(runs, sizeof runs, "%" PRIu32, keys[i].max_runs);
        (void)printf("%-24s %-24s %-6s %s\n", keys[i].name,
                     scopes_format(keys[i].scopes, scopes, sizeof scopes), runs,
                     service_db_time(keys[i].created_ms, time, sizeof time));
    }
    return 0;
}

static int make_state(const char *path, struct err *e)
{
    struct state s = STATE_INIT;
    (void)umask(022);
    int rc = state_open(&s, path, e) || state_make_data(&s, e) ? -1 : 0;
    state_done(&s);
    (void)umask(077);
    return rc;
}

/* Makes the change in a child, which becomes the owner of the data for good. This process keeps the
 * right to signal the service. */
static int change(struct keys_options *o, int (*run)(const struct keys_options *, struct err *),
                  bool makes_state, struct err *e)
{
    char path[STATE_PATH_MAX];
    const struct service_choice here = { .state = o->state, .here = true };
    int status, rc = remote_connect(&here, &o->service, e);
    (void)snprintf(o->actor, sizeof o->actor, "unix:%u", getuid());
    if (rc == -1 || state_choose(o->state, path, sizeof path, e) ||
        (rc == REMOTE_NONE && makes_state && make_state(path, e)))
        return -1;
    pid_t pid = fork();
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "start a process");
    if (pid == 0) {
        rc = run(o, e) ? cli_fail(e) : 0;
        (void)fflush(stdout);
        _exit(rc);
    }
    bool by_service = o->service;
    client_done(&o->service);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status))
        return err_set(e, ERR_KERNEL, 0, "the process that changes the keys was killed");
    pid_t service = WEXITSTATUS(status) == 0 && !by_service ? state_holder(path) : 0;
    if (service > 0 && kill(service, SIGHUP) < 0)
        (void)fprintf(stderr,
                      "belljar: the service does not know of the change yet: run 'kill -HUP %d'\n",
                      (int)service);
    return WEXITSTATUS(status);
}

static int verb_add(void *options, int argc, char **argv, struct err *e)
{
    struct keys_options *o = options;
    (void)argc;
    o->name = argv[0];
    return change(o, add, true, e);
}

static int verb_remove(void *options, int argc, char **argv, struct err *e)
{
    struct keys_options *o = options;
    (void)argc;
    o->name = argv[0];
    return change(o, remove_key, false, e);
}

static int verb_list(void *options, int argc, char **argv, struct err *e)
{
    (void)argc;
    (void)argv;
    return list(options, e);
}

static const struct verb verbs[] = {
    { "add", "NAME --scopes LIST",
      "makes a key and prints it once: the service stores its hash only", 1, 1, .run = verb_add },
    { "list", "", "lists the keys with their scopes, runs at a time and dates", .run = verb_list },
    { "remove", "NAME", "removes a key", 1, 1, .run = verb_remove },
};

const struct cli_command keys_command = {
    .name = "keys",
    .summary = "add, list and remove API keys of the service",
    .usage = (const char *const[]){ "add NAME --scopes LIST [--max-runs N] [--state DIR]",
                                    "list [--state DIR]", "remove NAME [--state DIR]", NULL },
    .description = "Manages the API keys of the service. If a service is running, a change is in "
                   "force when the command returns. Keys can also be made before the first start.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .verbs = verbs,
    .n_verbs = ARRAY_LEN(verbs),
    .examples = (const char *const[]){ "Make a key that may run programs and read results:",
                                       "belljar keys add ci --scopes run,read", NULL },
    .options_size = sizeof(struct keys_options),
};
