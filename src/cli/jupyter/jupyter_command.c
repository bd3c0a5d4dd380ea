/* `belljar kernel`: a Jupyter kernel whose cells run in a session of the service. main (front.h) has
 * the sockets of Jupyter; the forwarder (forwarder.h) speaks to the service. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/jupyter/forwarder.h"
#include "cli/jupyter/front.h"
#include "cli/jupyter/kernelspec.h"
#include "cli/run/remote.h"
#include "run/keeper_uid.h"

struct jupyter_options {
    const char *file, *state, *timeout;
    uint64_t timeout_ms;
    const struct language *language; /* NULL: not given */
    struct kernelspec_place place;
};

static int set_timeout(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct jupyter_options *o = options;
    struct limits l = { 0 };
    (void)row;
    if (limit_parse(LIMIT_WALL_MS, value, &l, e))
        return -1;
    o->timeout = value;
    o->timeout_ms = l.v[LIMIT_WALL_MS];
    return 0;
}

static const struct arg_row rows[] = {
    { "connection-file", "FILE", .letter = 'f', .offset = offsetof(struct jupyter_options, file),
      .values = { VALUES_FILE },
      .help = "be a Jupyter kernel for the client that wrote this file" },
    { "language", "LANG", .offset = offsetof(struct jupyter_options, language),
      .apply = args_language, .values = { VALUES_WORDS, args_language_at },
      .help = "with -f: the language, python by default; otherwise: this language only" },
    { "timeout", "TIME", .apply = set_timeout,
      .help = "with -f and install: time limit of each cell, such as 10m" },
    { "state", "DIR", .offset = offsetof(struct jupyter_options, state),
      .values = { VALUES_DIRECTORY },
      .help = "with -f and install: the state directory of the service" },
    { "sys-prefix", .offset = offsetof(struct jupyter_options, place.sys_prefix),
      .help = "kernelspecs of the current Python environment, or of /usr/local" },
    { "prefix", "DIR", .offset = offsetof(struct jupyter_options, place.prefix),
      .values = { VALUES_DIRECTORY }, .help = "kernelspecs in DIR/share/jupyter" },
};

/* ---- the Jupyter kernel ---- */

struct kernel {
    struct front front;
    struct keeper_uid uid;
    pid_t forwarder;
};

static void kernel_done(struct kernel *k)
{
    front_done(&k->front); /* closes the link, which ends the forwarder */
    if (k->forwarder > 0)
        (void)waitpid(k->forwarder, NULL, 0);
    keeper_uid_done(&k->uid);
}

static int fork_forwarder(struct kernel *k, const struct jupyter_options *o,
                          struct client *const links[2], struct err *e)
{
    int fds[2];
    pid_t us = getpid();
    if (keeper_uid_for_command(&k->uid, e))
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket pair");
    (void)signal(SIGPIPE, SIG_IGN);
    k->forwarder = fork();
    if (k->forwarder == 0) {
        const struct forwarder_job job = {
            links[0],     links[1], k->front.language,
            fds[1],       us,       k->uid.lock_fd >= 0 ? k->uid.uid : geteuid(),
            o->timeout_ms
        };
        _exit(forwarder_run(&job));
    }
    (void)close(fds[1]);
    k->front.link_fd = fds[0];
    if (k->forwarder < 0)
        return err_set(e, ERR_KERNEL, errno, "start the process that talks to the service");
    return 0;
}

static int start_forwarder(struct kernel *k, const struct jupyter_options *o, struct err *e)
{
    struct client *links[2] = { NULL, NULL };
    const struct service_choice at = { .state = o->state };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(links); i++)
        rc = remote_connect(&at, &links[i], e);
    if (rc == REMOTE_NONE)
        rc = err_set(
            e, ERR_UNAVAILABLE, 0,
            "no service is running, and sessions need one: 'belljar serve' starts it; then "
            "restart the Jupyter kernel");
    if (rc == 0)
        rc = fork_forwarder(k, o, links, e);
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        client_done(&links[i]);
    return rc;
}

static int serve(void *options, int argc, char **argv, struct err *e)
{
    const struct jupyter_options *o = options;
    scoped(kernel) k = { .front.link_fd = -1, .uid = KEEPER_UID_INIT };
    struct connection c;
    (void)argc;
    (void)argv;
    k.front.language = o->language ? o->language : language_find("python");
    if (!o->file)
        return err_set(e, ERR_USAGE, 0,
                       "'belljar kernel' needs -f FILE, which a Jupyter client gives, or a verb: "
                       "install, list and remove are accepted");
    if (connection_read(o->file, &c, e) || signer_open(&k.front.signer, c.key, e))
        return -1;
    /* A client shows the reason only if there is a Jupyter kernel that answers. */
    if (start_forwarder(&k, o, e)) {
        (void)snprintf(k.front.reason, sizeof k.front.reason, "%s", e->text);
        (void)fprintf(stderr, "belljar: %s\n", e->text);
    }
    if (sockets_open(&k.front.sockets, &c, e))
        return -1;
    front_serve(&k.front);
    return 0;
}

/* ---- kernelspecs ---- */

static bool is_meant(const struct jupyter_options *o, const struct language *l)
{
    return l->session && (!o->language || o->language == l);
}

static int check_language(const struct jupyter_options *o, struct err *e)
{
    char known[160];
    if (o->language && !o->language->session)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "language '%s' has no sessions, so it has no Jupyter kernel: %s have one",
                       o->language->name, language_session_list(known, sizeof known));
    return 0;
}

static int verb_install(void *options, int argc, char **argv, struct err *e)
{
    const struct jupyter_options *o = options;
    char dir[PATH_MAX];
    (void)argc;
    (void)argv;
    if (check_language(o, e) || kernelspec_dir(&o->place, dir, sizeof dir, e))
        return -1;
    for (size_t i = 0; languages[i]; i++) {
        if (!is_meant(o, languages[i]))
            continue;
        if (kernelspec_write(dir, &(struct kernelspec){ languages[i], o->state, o->timeout }, e))
            return -1;
        (void)printf("installed belljar-%s in %s\n", languages[i]->name, QUOTED(dir));
    }
    return 0;
}

static int verb_list(void *options, int argc, char **argv, struct err *e)
{
    const struct jupyter_options *o = options;
    char dir[PATH_MAX];
    (void)argc;
    (void)argv;
    if (kernelspec_dir(&o->place, dir, sizeof dir, e))
        return -1;
    for (size_t i = 0; languages[i]; i++)
        if (is_meant(o, languages[i]) && kernelspec_is_there(dir, languages[i]))
            (void)printf("belljar-%s\n", languages[i]->name);
    return 0;
}

static int verb_remove(void *options, int argc, char **argv, struct err *e)
{
    const struct jupyter_options *o = options;
    char dir[PATH_MAX];
    bool found, any = false;
    (void)argc;
    (void)argv;
    if (kernelspec_dir(&o->place, dir, sizeof dir, e))
        return -1;
    for (size_t i = 0; languages[i]; i++) {
        if (!is_meant(o, languages[i]))
            continue;
        if (kernelspec_remove(dir, languages[i], &found, e))
            return -1;
        if (found)
            (void)printf("removed belljar-%s from %s\n", languages[i]->name, QUOTED(dir));
        any = any || found;
    }
    if (!any)
        return err_set(e, ERR_NOT_FOUND, 0,
                       "there is no kernelspec of Belljar in '%s': 'belljar kernel install' makes "
                       "them",
                       QUOTED(dir));
    return 0;
}

static const struct verb verbs[] = {
    { "install", "", "registers a kernelspec for each language with sessions",
      .run = verb_install },
    { "list", "", "lists the kernelspecs that are registered", .run = verb_list },
    { "remove", "", "removes them", .run = verb_remove },
};

const struct cli_command kernel_command = {
    .name = "kernel",
    .summary = "run the cells of Jupyter notebooks in jars",
    .usage = (const char *const[]){ "install [--language LANG] [--prefix DIR] [--timeout TIME]",
                                    "list [--prefix DIR]",
                                    "remove [--language LANG] [--prefix DIR]",
                                    "-f FILE [--language LANG]", NULL },
    .description =
        "'belljar kernel install' registers Jupyter kernels, one for each language with sessions, "
        "for the calling user. Jupyter then offers them by name, and starts 'belljar kernel -f "
        "FILE' for each notebook. Its cells run in a session of the running service.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .verbs = verbs,
    .n_verbs = ARRAY_LEN(verbs),
    .examples = (const char *const[]){ "Register the Jupyter kernels:", "belljar kernel install",
                                       "Then work in one at the terminal:",
                                       "jupyter console --kernel belljar-python", NULL },
    .options_size = sizeof(struct jupyter_options),
    .run = serve,
};
