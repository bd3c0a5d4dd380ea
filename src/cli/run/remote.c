/* Finds the service, checks that it is trusted, and forks the keeper that talks to it. */
#include "cli/run/remote.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/run/handover.h"
#include "cli/run/remote_keeper.h"
#include "cli/run/remote_request.h"
#include "client/client.h"
#include "run/keeper_uid.h"
#include "service/state.h"

enum { PATH_SIZE = sizeof((struct sockaddr_un *)NULL)->sun_path };

/* False if there is no state directory, or its name is too long for a socket. */
static bool socket_path(const char *option, char path[PATH_SIZE])
{
    char state[STATE_PATH_MAX];
    struct err e;
    if (state_choose(option, state, sizeof state, &e))
        return false;
    int n = snprintf(path, PATH_SIZE, "%s/belljar.sock", state);
    return n > 0 && n < PATH_SIZE;
}

static bool socket_is_ours(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) &&
           (st.st_uid == geteuid() || st.st_uid == 0);
}

/* socket_is_ours() looked at the name before the connect; this checks the process that listens now.
 * The keeper of root's service has the socket from its supervisor. */
static bool peer_is_ours(const struct client *c)
{
    struct err e;
    uid_t uid;
    return client_peer(c, &uid, &e) == 0 &&
           (uid == geteuid() || uid == 0 || keeper_uid_of_state(uid));
}

static int connect_at(const char *path, struct client **ret, struct err *e)
{
    struct client *c;
    if (!socket_is_ours(path))
        return REMOTE_NONE;
    if (client_connect(&c, path, e))
        return e->sys == ENOENT || e->sys == ECONNREFUSED ? REMOTE_NONE : -1;
    if (!peer_is_ours(c)) {
        client_free(c);
        return REMOTE_NONE;
    }
    *ret = c;
    return 0;
}

int remote_connect(const struct service_choice *s, struct client **ret, struct err *e)
{
    char path[PATH_SIZE];
    if (service_choice_url(s))
        return service_choice_connect(s, ret, e);
    if (s && service_choice_check(s, e))
        return -1;
    return socket_path(s ? s->state : NULL, path) ? connect_at(path, ret, e) : REMOTE_NONE;
}

struct service_links {
    char path[PATH_SIZE]; /* "": the service has a URL */
    struct client *events, *side;
};

static void service_links_done(struct service_links *l)
{
    client_done(&l->events);
    client_done(&l->side);
}

static int service_links_open(struct service_links *l, const struct service_choice *s,
                              struct err *e)
{
    if (!service_choice_url(s) && !socket_path(s->state, l->path))
        return REMOTE_NONE;
    int rc = remote_connect(s, &l->events, e);
    return rc ? rc : remote_connect(s, &l->side, e);
}

const char *remote_option_of_here(const struct run_arguments *o)
{
    return o->local                 ? "--local"
           : o->strict              ? "--strict"
           : o->mounts              ? "--mount"
           : o->allow_private       ? "--allow-private"
           : o->level != LEVEL_AUTO ? "--isolation"
                                    : NULL;
}

/* True if a service is to be asked. */
static int wants_service(const struct run_arguments *o, const struct inputs *in, bool *ret,
                         struct err *e)
{
    /* Stages have found their service already. */
    const char *here = o->stages ? NULL : remote_option_of_here(o);
    const char *url = service_choice_url(&o->service);
    if (here && o->service.url)
        return err_set(e, ERR_USAGE, 0,
                       "--service '%s' and %s contradict each other: %s runs the program here",
                       QUOTED(url), here, here);
    *ret = !here && remote_request_possible(o, in);
    if (!here && url && !*ret)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the run does not fit into a request to '%s': its files have more than 20 "
                       "MiB, or a name, argument or variable is not UTF-8; --local runs it here",
                       QUOTED(url));
    return 0;
}

int remote_advise(struct err *e)
{
    struct err why = *e;
    return err_set(e, why.code, 0, "%.190s; --local runs it without the service", why.text);
}

int remote_run(const struct run_arguments *o, struct inputs *in, struct err *e)
{
    scoped(service_links) links = { 0 };
    scoped(keeper_uid) uid = KEEPER_UID_INIT;
    struct handover h;
    eventfd_t nobody;
    pid_t self = getpid();
    bool wanted = false;
    if (service_choice_check(&o->service, e) || wants_service(o, in, &wanted, e))
        return -1;
    if (!wanted)
        return REMOTE_NONE;
    int rc = service_links_open(&links, &o->service, e);
    if (rc == -1)
        return remote_advise(e);
    if (rc)
        return rc;
    autoclose int nobody_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (nobody_fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make an eventfd");
    if (keeper_uid_for_command(&uid, e) || handover_fork(&h, e))
        return -1;
    if (h.keeper == 0) {
        struct remote_job job = { .options = o,
                                  .inputs = in,
                                  .path = links.path[0] ? links.path : NULL,
                                  .events = links.events,
                                  .side = links.side,
                                  .uid = uid.uid,
                                  .parent = self,
                                  .handover_fd = h.fd,
                                  .nobody_fd = nobody_fd };
        _exit(remote_keeper_run(&job));
    }
    service_links_done(&links); /* only the keeper has them: the service notices its death */
    int status = handover_finish(&h, o, &in->terminal, NULL, e);
    if (status >= 0 && eventfd_read(nobody_fd, &nobody) == 0)
        return REMOTE_NONE;
    return status;
}
