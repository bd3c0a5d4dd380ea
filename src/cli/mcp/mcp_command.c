/* `belljar mcp`: the Model Context Protocol on stdin and stdout. main connects to the service, or
 * starts a private one; the bridge (bridge.h) passes messages on. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/process.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/mcp/bridge.h"
#include "cli/repl/link.h"
#include "cli/repl/passing.h"
#include "cli/repl/private_service.h"
#include "cli/run/remote.h"
#include "run/keeper_uid.h"

struct mcp_options {
    struct service_choice at;
    bool is_private;
    const char *set[PRIVATE_SET_MAX + 1];
    size_t n_set;
};

static int add_setting(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct mcp_options *o = options;
    (void)row;
    if (o->n_set == PRIVATE_SET_MAX)
        return err_set(e, ERR_USAGE, 0, "--set can be given %d times", PRIVATE_SET_MAX);
    o->set[o->n_set++] = value;
    o->is_private = true;
    return 0;
}

static const struct arg_row rows[] = {
    { "private", .offset = offsetof(struct mcp_options, is_private),
      .help = "start a service for this command alone, also if one is running" },
    { "set", "KEY=VALUE", .apply = add_setting, .repeats = true,
      .help = "a setting of the private service, such as network.max=list" },
    SERVICE_ROWS(struct mcp_options, at),
};

struct mcp_main {
    struct private_service service;
    struct keeper_uid uid;
    struct service_choice at;
    int link_fd, signal_fd;
    pid_t bridge;
};

static void mcp_main_done(struct mcp_main *m)
{
    fd_close(&m->link_fd); /* ends the bridge */
    if (m->bridge > 0)
        (void)waitpid(m->bridge, NULL, 0);
    fd_close(&m->signal_fd);
    keeper_uid_done(&m->uid);
    private_service_done(&m->service);
}

static int find_service(struct mcp_main *m, const struct mcp_options *o, struct err *e)
{
    struct client *c = NULL;
    int rc = o->is_private ? REMOTE_NONE : remote_connect(&o->at, &c, e);
    client_done(&c);
    m->at = o->at;
    if (rc != REMOTE_NONE)
        return rc;
    if (o->at.state && !o->is_private)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "no service is running in '%s': without --state, a private one is started",
                       o->at.state);
    m->service.mcp = true;
    m->service.set = o->set;
    if (private_service_start(&m->service, e))
        return -1;
    m->at = (struct service_choice){ .state = m->service.state };
    return 0;
}

static int start_bridge(struct mcp_main *m, struct err *e)
{
    int fds[2];
    pid_t us = getpid();
    if (keeper_uid_for_command(&m->uid, e))
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket pair");
    (void)signal(SIGPIPE, SIG_IGN);
    m->bridge = fork();
    if (m->bridge == 0) {
        const struct bridge_job job = { fds[1], us, m->uid.lock_fd >= 0 ? m->uid.uid : geteuid() };
        _exit(bridge_run(&job));
    }
    (void)close(fds[1]);
    m->link_fd = fds[0];
    return m->bridge < 0 ? err_set(e, ERR_KERNEL, errno, "start the bridge") : 0;
}

/* Until the bridge ends, or a signal ends us. Its exit status. */
static int serve(struct mcp_main *m, struct err *e)
{
    int status = 0;
    for (;;) {
        struct pollfd polls[] = { { m->link_fd, POLLIN, 0 }, { m->signal_fd, POLLIN, 0 } };
        enum link_type type;
        scoped(buf) record = { 0 };
        if (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for the bridge");
        if (polls[1].revents)
            return 0;
        if (polls[0].revents && (link_receive(m->link_fd, &type, &record, e) ||
                                 type != TELL_CONNECT || passing_send(m->link_fd, &m->at, e)))
            break;
    }
    while (waitpid(m->bridge, &status, 0) < 0 && errno == EINTR)
        ;
    m->bridge = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run(void *options, int argc, char **argv, struct err *e)
{
    const struct mcp_options *o = options;
    scoped(mcp_main) m = {
        .service = PRIVATE_SERVICE_INIT, .uid = KEEPER_UID_INIT, .link_fd = -1, .signal_fd = -1
    };
    sigset_t set;
    (void)argc;
    (void)argv;
    if (isatty(STDIN_FILENO))
        return err_set(e, ERR_USAGE, 0,
                       "stdin is a terminal: a client of MCP starts this command and writes "
                       "messages to it; 'belljar mcp --help' shows how to configure one");
    cli_signals(&set);
    if (find_service(&m, o, e) || start_bridge(&m, e) ||
        process_watch_signals(&set, &m.signal_fd, e))
        return -1;
    return serve(&m, e);
}

const struct cli_command mcp_command = {
    .name = "mcp",
    .summary = "give tools to agents: the Model Context Protocol on stdin and stdout",
    .usage =
        (const char *const[]){ "[--private] [--set KEY=VALUE]... [--service URL | --state DIR]",
                               NULL },
    .description =
        "Clients of the Model Context Protocol start this command, and call its tools: run_code, "
        "run_cell and others. Messages go to the running service, whose setting doors.mcp must be "
        "on. If no service is running, a private one begins, and ends with this command.\n\n"
        "The configuration of most clients: {\"mcpServers\": {\"belljar\": {\"command\": "
        "\"belljar\", \"args\": [\"mcp\"]}}}. A client can also use the service itself, at "
        "http://127.0.0.1:6080/mcp.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .examples =
        (const char *const[]){
            "List the tools:",
            "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' | belljar mcp",
            "With a private service whose runs may name hosts to reach:",
            "belljar mcp --set network.max=list", NULL },
    .options_size = sizeof(struct mcp_options),
    .run = run,
};
