/* `belljar serve`: the options; the service itself is src/service. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "service/supervisor.h"
#include "settings/settings.h"

static const struct arg_row rows[] = {
    { "listen", "ADDR:PORT|unix:PATH", 'l', "where to listen; can be repeated" },
    { "state", "DIR", 's', "where history and keys are kept" },
    { "config", "FILE", 'c', "settings, one 'key = value' a line; read again on SIGHUP" },
    { "set", "KEY=VALUE", 'S', "one setting, over the file's; can be repeated" },
    { "help", NULL, ARG_HELP, "show this" },
};

static const struct arg_table table = {
    "serve",
    "Usage: belljar serve [OPTION]...\n\n"
    "Serves runs over HTTP: on 127.0.0.1:6000 and, when it is free, 127.0.0.1:6080 unless "
    "--listen\n"
    "says otherwise, and always on the unix socket belljar.sock in the state directory, which is\n"
    "$BELLJAR_STATE, or /var/lib/belljar for root, or ~/.local/state/belljar. An address that "
    "other\n"
    "machines can reach needs an API key first: 'belljar keys add NAME --scopes run,read'. "
    "SIGTERM\n"
    "ends it once the runs are over, a second one at once.\n\n"
    "Of the environment, SANDBOX_HOST and SANDBOX_PORT replace the first address, DEBUG=1 logs\n"
    "more, OUTPUT_DATA_PATH is the directory of /execute.\n",
    rows,
    ARRAY_LEN(rows),
};

struct serve_options {
    struct service_options service;
    bool help;
};

static int add_set(struct service_options *o, const char *pair, struct err *e)
{
    struct settings scratch = settings_default();
    const char **grown = realloc(o->sets, (o->n_sets + 1) * sizeof *grown);
    if (!grown)
        return err_no_memory(e, "the options");
    o->sets = grown;
    grown[o->n_sets++] = pair;
    return settings_set_pair(&scratch, pair, e);
}

static int apply(void *context, int key, char *value, struct err *e)
{
    struct serve_options *o = context;
    switch (key) {
    case 'l':
        if (o->service.n_listen == SETTINGS_LISTEN_MAX - 1) /* and our own */
            return err_set(e, ERR_USAGE, 0, "--listen: up to %d are accepted",
                           SETTINGS_LISTEN_MAX - 1);
        o->service.listen[o->service.n_listen++] = value;
        return 0;
    case 's':
        o->service.state = value;
        return 0;
    case 'c':
        o->service.config = value;
        return 0;
    case 'S':
        return add_set(&o->service, value, e);
    default:
        o->help = true;
        return 0;
    }
}

static int print_help(struct err *e)
{
    scoped(buf) text = { 0 };
    if (settings_help(&text, e))
        return -1;
    args_help(&table);
    (void)printf("\nSettings:\n%s", buf_str(&text));
    return 0;
}

int cmd_serve(int argc, char **argv)
{
    struct serve_options o = { 0 };
    struct err e = { 0 };
    int first;
    int rc = args_parse(&table, argc, argv, apply, &o, &first, &e);
    if (rc == 0 && o.help)
        rc = print_help(&e);
    else if (rc == 0 && first < argc)
        rc = args_refuse_operand(&table, argv[first], &e);
    else if (rc == 0)
        rc = service_run(&o.service, &e);
    free(o.service.sets);
    return rc ? cli_fail(&e) : 0;
}
