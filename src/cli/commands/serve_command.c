/* `belljar serve`: the options. src/service is the service itself. */
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/manual/manual.h"
#include "service/supervisor.h"
#include "settings/settings.h"

static int add_listen(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    enum { MAX = SETTINGS_LISTEN_MAX - 1 }; /* the service adds a socket of its own */
    struct service_options *o = options;
    if (o->n_listen == MAX)
        return err_set(e, ERR_USAGE, 0, "--%s '%s' is one address too many: up to %d are accepted",
                       row->name, QUOTED(value), MAX);
    o->listen[o->n_listen++] = value;
    return 0;
}

static int add_set(void *options, const struct arg_row *row, const char *pair, struct err *e)
{
    struct service_options *o = options;
    struct settings scratch = settings_default();
    (void)row;
    const char **grown = realloc(o->sets, (o->n_sets + 1) * sizeof *grown);
    if (!grown)
        return err_no_memory(e, "the options");
    o->sets = grown;
    grown[o->n_sets++] = pair;
    return settings_set_pair(&scratch, pair, e);
}

#define AT(member) offsetof(struct service_options, member)
static const struct arg_row rows[] = {
    { "listen", "ADDR:PORT|unix:PATH", .repeats = true, .apply = add_listen,
      .help = "listen on this address" },
    { "state", "DIR", .offset = AT(state), .values.kind = VALUES_DIRECTORY,
      .help = "state directory, for history, keys and the socket" },
    { "config", "FILE", .offset = AT(config), .values.kind = VALUES_FILE,
      .help = "file with settings, one 'key = value' a line; SIGHUP reads it again" },
    { "set", "KEY=VALUE", .repeats = true, .apply = add_set,
      .help = "one setting; it overrides the file" },
    { "lifeline", "FD", .offset = AT(lifeline),
      .help = "end when the parent, which made this pair of sockets, closes its end or dies" },
};
#undef AT

static int serve(void *options, int argc, char **argv, struct err *e)
{
    (void)argc;
    (void)argv;
    return service_run(options, e);
}

static void done(void *options)
{
    free(((struct service_options *)options)->sets);
}

static void sections(struct page *p)
{
    page_section(p, "Environment");
    page_item(p, "BELLJAR_STATE", "the state directory, if there is no --state");
    page_item(p, "SANDBOX_HOST, SANDBOX_PORT", "replace the first default address");
    page_item(p, "OUTPUT_DATA_PATH", "the directory of /execute");
    page_item(p, "DEBUG", "1 writes more to the log");
    manual_settings(p);
}

const struct cli_command serve_command = {
    .name = "serve",
    .summary = "serve runs over HTTP",
    .usage = (const char *const[]){ "[OPTION]...", NULL },
    .description =
        "Serves runs over HTTP. Without --listen it listens on 127.0.0.1:6000 and, if it is free, "
        "on "
        "127.0.0.1:6080. It always listens on the unix socket belljar.sock in the state directory, "
        "which is $BELLJAR_STATE, or /var/lib/belljar for root, or ~/.local/state/belljar.\n\n"
        "An address that other machines can reach needs an API key first: 'belljar keys add NAME "
        "--scopes run,read'.\n\n"
        "With --lifeline, the service belongs to the program that started it. It says 'ready PATH' "
        "on the socket FD when it listens on the unix socket PATH. It has no other address unless "
        "--listen names one, and a new state directory, which it removes, unless --state names "
        "one.\n\n"
        "After SIGTERM the service finishes its runs and ends. A second SIGTERM ends it at once.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .sections = sections,
    .examples = (const char *const[]){ "Serve on a further address, with at most 8 runs at a time:",
                                       "belljar serve --listen 127.0.0.1:7000 --set runs.max=8",
                                       NULL },
    .options_size = sizeof(struct service_options),
    .done = done,
    .run = serve,
};
