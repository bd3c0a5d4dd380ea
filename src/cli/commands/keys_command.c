/* `belljar keys`: who may call the service. A service that runs makes the change, and it is in force when it has answered.
 * Else the database itself is changed, so that the first key can be made before the first start. */
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
#include "cli/commands/history_db.h"
#include "cli/run/remote.h"
#include "client/client.h"
#include "store/key_rows.h"

enum { MAX_RUNS = 1024, ANSWER_MAX = 1 << 16, ANSWER_MS = 30000 };

static const struct arg_row rows[] = {
    { "scopes", "LIST", 'S', "add: what it may do, of run, read, approve and admin, with commas" },
    { "max-runs", "N", 'm', "add: runs at a time; otherwise runs.max_per_key" },
    { "state", "DIR", 's', "the service's state directory" },
    { "help", NULL, ARG_HELP, "show this" },
};

static const struct arg_table table = {
    "keys",
    "Usage: belljar keys add NAME --scopes LIST [OPTION]...\n"
    "       belljar keys list [OPTION]...\n"
    "       belljar keys remove NAME [OPTION]...\n\n"
    "API keys of the service. A new one is printed once: only its hash is kept. With a\n"
    "service that runs, a change is in force when the command returns.\n",
    rows,
    ARRAY_LEN(rows),
};

struct keys_options {
    const char *state, *name;
    scope_set scopes;
    unsigned max_runs;
    char actor[32];         /* who we are before we become the owner of the data */
    struct client *service; /* to make the change; NULL: none runs */
    bool help;
};

static int apply(void *context, int key, char *value, struct err *e)
{
    struct keys_options *o = context;
    switch (key) {
    case 'S':
        return scopes_parse(value, &o->scopes, e);
    case 'm':
        return args_count("--max-runs", value, MAX_RUNS, &o->max_runs, e);
    case 's':
        o->state = value;
        return 0;
    default:
        o->help = true;
        return 0;
    }
}

/* --- by the service --- */

/* The connection is root's, but what comes over it is read without its rights. */
static int ask(const struct keys_options *o, const struct client_request *q, struct err *e)
{
    if (history_db_become_owner(o->state, e))
        return -1;
    if (client_ask(o->service, q, ANSWER_MS, e))
        return e->code == ERR_UNAVAILABLE
                   ? err_set(e, ERR_UNAVAILABLE, 0,
                             "the service went away or does not answer: 'belljar keys list' tells "
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
    return good ? 0 : err_set(e, ERR_PROTOCOL, 0, "the service sent no key");
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
    scoped(history_db) h = { 0 };
    struct key_row row = { .scopes = o->scopes,
                           .max_runs = o->max_runs,
                           .created_ms = clock_unix_ms() };
    (void)snprintf(row.name, sizeof row.name, "%s", o->name);
    if (key_make(ret_text, row.hash, e) || history_db_open(&h, o->state, DB_WRITE, e) ||
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
    scoped(history_db) h = { 0 };
    if (history_db_open(&h, o->state, DB_WRITE, e) || db_begin(h.db, e))
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
    (void)fprintf(stderr, "belljar: key '%s' may %s; it is not shown again\n", o->name,
                  scopes_format(o->scopes, scopes, sizeof scopes));
    return 0;
}

static int read_keys(const struct keys_options *o, struct key_row **ret, size_t *ret_n,
                     struct err *e)
{
    scoped(history_db) h = { 0 };
    return history_db_open(&h, o->state, DB_READ, e) || keys_list(h.db, ret, ret_n, e) ? -1 : 0;
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
        (void)fprintf(stderr, "belljar: no key is left: anybody on this machine can use 127.0.0.1 "
                              "addresses again\n");
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
                     history_db_time(keys[i].created_ms, time, sizeof time));
    }
    return 0;
}

static const struct verb {
    const char *name;
    int (*run)(const struct keys_options *o, struct err *e);
    bool changes; /* names a key, and a service is to be told */
    bool makes;   /* the database too */
} verbs[] = {
    { "add", add, true, true },
    { "list", list, false, false },
    { "remove", remove_key, true, false },
};

static int make_state(const char *path, struct err *e)
{
    struct state s = STATE_INIT;
    (void)umask(022);
    int rc = state_open(&s, path, e) || state_data(&s, state_data_owner(), e) ? -1 : 0;
    if (rc &&
        e->sys == EINVAL) /* there is no such uid here, and the keeper will not have it either */
        rc = state_data(&s, geteuid(), e);
    state_done(&s);
    (void)umask(077);
    return rc;
}

/* The change is made in a child, which becomes the owner of the data for good; who told the service is still we. */
static int change(const struct verb *v, struct keys_options *o, struct err *e)
{
    char path[STATE_PATH_MAX];
    int status, rc = remote_connect(o->state, &o->service, e);
    if (rc == -1 || state_choose(o->state, path, sizeof path, e) ||
        (rc == REMOTE_NONE && v->makes && make_state(path, e)))
        return -1;
    pid_t pid = fork();
    if (pid < 0)
        return err_set(e, ERR_KERNEL, errno, "start a process");
    if (pid == 0) {
        rc = v->run(o, e) ? cli_fail(e) : 0;
        (void)fflush(stdout);
        _exit(rc);
    }
    bool told = o->service;
    client_done(&o->service);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status))
        return err_set(e, ERR_KERNEL, 0, "the keys could not be changed");
    pid_t service = WEXITSTATUS(status) == 0 && !told ? state_holder(path) : 0;
    if (service > 0 && kill(service, SIGHUP) < 0)
        (void)fprintf(stderr, "belljar: tell the service of it: kill -HUP %d\n", (int)service);
    return WEXITSTATUS(status);
}

/* Exit status, or -1. */
static int perform(const struct verb *v, struct keys_options *o, int argc, char **argv,
                   struct err *e)
{
    if (v->changes && argc == 0)
        return err_set(e, ERR_USAGE, 0, "keys %s needs a name: 'belljar keys %s NAME'", v->name,
                       v->name);
    if (argc > (v->changes ? 1 : 0))
        return args_refuse_operand(&table, argv[v->changes ? 1 : 0], e);
    o->name = argv[0];
    return v->changes ? change(v, o, e) : v->run(o, e);
}

int cmd_keys(int argc, char **argv)
{
    struct keys_options o = { 0 };
    struct err e = { 0 };
    int first;
    (void)snprintf(o.actor, sizeof o.actor, "unix:%u", getuid());
    if (args_parse(&table, argc, argv, apply, &o, &first, &e))
        return cli_fail(&e);
    if (o.help) {
        args_help(&table);
        return 0;
    }
    const char *verb = first < argc ? argv[first] : "";
    int rc = err_set(&e, ERR_USAGE, 0, "keys '%s': add, list and remove are accepted",
                     QUOTED(verb));
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (strcmp(verbs[i].name, verb) == 0)
            rc = perform(&verbs[i], &o, argc - first - 1, argv + first + 1, &e);
    return rc < 0 ? cli_fail(&e) : rc;
}
