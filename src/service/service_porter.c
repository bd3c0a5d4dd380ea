#include "service/service_porter.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "wire/wire.h"

static void add_listeners(struct service_porter *p, const struct listener *listeners, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct address_endpoint *at = &p->listeners[p->n_listeners];
        if (address_of(&listeners[i].address.at.any, at->address, &at->port) == 0)
            p->n_listeners++; /* others are unix sockets */
    }
}

/* A secret without a value is a mistake of the operator, who is here now. */
static int check_secrets(const struct service_porter *p, struct err *e)
{
    struct injector_process probe = { .fd = -1 };
    if (!p->injector.grants[0])
        return 0;
    if (injector_start(&p->injector, &probe, e))
        return err_wrap(e, "network.secrets");
    injector_stop(&probe);
    return 0;
}

int service_porter_open(struct service_porter *p, const struct settings *s,
                        const struct listener *listeners, size_t n_listeners, bool own_uid,
                        struct err *e)
{
    if (settings_network_max(s, &p->max, e))
        return -1;
    p->match_sni = s->network_sni;
    p->wanted = p->max.mode != NETWORK_NONE;
    p->uid.uid = geteuid();
    if (!p->wanted)
        return 0;
    add_listeners(p, listeners, n_listeners);
    if (address_set_parse(s->network_private, &p->private_ranges, e))
        return err_wrap(e, "network.private");
    if (own_uid && keeper_uid_take(&p->uid, KEEPER_OF_COMMAND, 0, e))
        return -1;
    p->injector.grants = s->network_secrets;
    p->injector.file = s->network_secrets_file;
    p->injector.uid = p->uid.uid;
    return check_secrets(p, e);
}

void service_porter_done(struct service_porter *p)
{
    porter_stop(&p->process);
    fd_close(&p->injector.environment_fd);
    keeper_uid_done(&p->uid);
    network_policy_done(&p->max);
    address_set_done(&p->private_ranges);
}

bool service_porter_start(struct service_porter *p, uint64_t now_ms)
{
    struct err e = { 0 };
    if (!p->wanted || p->process.pid > 0 || now_ms < p->backoff.due_ms)
        return false;
    const struct porter_setup setup = { .private_ranges = &p->private_ranges,
                                        .listeners = p->listeners,
                                        .n_listeners = p->n_listeners,
                                        .max = &p->max,
                                        .match_sni = p->match_sni,
                                        .uid = p->uid.uid,
                                        .injector = p->injector.grants[0] ? &p->injector : NULL };
    if (porter_start(&setup, &p->process, &e)) {
        log_error(LOG_ERROR, "porter.not_started", &e);
        backoff_down(&p->backoff, now_ms);
        return false;
    }
    backoff_up(&p->backoff, now_ms);
    return true;
}

int service_porter_new_keeper(struct service_porter *p)
{
    struct err e = { 0 };
    int fd = -1;
    if (p->process.pid == 0)
        return -1;
    if (wire_new_keeper(p->process.fd, ++p->keepers, &fd, &e))
        log_error(LOG_ERROR, "porter.not_handed_over", &e);
    return fd;
}

void service_porter_lost(struct service_porter *p, uint32_t number)
{
    if (p->process.pid == 0 || number != p->keepers)
        return;
    log_event(LOG_ERROR, "porter.ended", "pid=%d reason=\"its keeper lost it\"",
              (int)p->process.pid);
    (void)kill(p->process.pid, SIGKILL); /* not reaped yet, so the pid is still its own */
}

void service_porter_check(struct service_porter *p)
{
    int status;
    if (p->process.pid == 0 || waitpid(p->process.pid, &status, WNOHANG) != p->process.pid)
        return;
    log_event(LOG_ERROR, "porter.died", "pid=%d %s=%d", (int)p->process.pid,
              WIFEXITED(status) ? "exit_code" : "signal",
              WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    p->process.pid = 0;
    porter_stop(&p->process); /* its injector ends with it */
    backoff_down(&p->backoff, clock_ms());
}

uint64_t service_porter_due_ms(const struct service_porter *p)
{
    return p->wanted && p->process.pid == 0 ? p->backoff.due_ms : UINT64_MAX;
}
