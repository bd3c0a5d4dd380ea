#include "porter/porter.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/caps.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/process.h"
#include "jar/confinement.h"
#include "porter/porter_impl.h"

enum { EVENTS_MAX = 256, TICK_MS = 200, CONNECTING_TICK_MS = 40 };
/* Descriptors of the porter itself: standard ones, epoll, routes, the resolver, keepers, and one that is
 * accepted to be reset. Memory: records and held bytes; the buffers of sockets are the kernel's. */
enum { FDS_RESERVED = 48 };
#define MEMORY_BYTES ((rlim_t)512 << 20)

/* ---- sources ---- */

/* One porter in this process: source_close() needs no other descriptor, because close() takes a
 * descriptor out of epoll unless a copy of it exists, and nobody has copies. */
int source_watch(struct porter *p, struct source *s, uint32_t events)
{
    struct epoll_event ev = { .events = events, .data.ptr = s };
    if (s->known && s->events == events)
        return 0;
    if (events == 0) { /* epoll reports errors without being asked, again and again */
        if (s->known)
            (void)epoll_ctl(p->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
        s->known = false;
        return 0;
    }
    if (epoll_ctl(p->epoll_fd, s->known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, s->fd, &ev) < 0)
        return -1;
    s->known = true;
    s->events = events;
    return 0;
}

void source_note(struct source *s, uint32_t events)
{
    bool ended = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    s->ended = s->ended || ended;
    s->readable = s->readable || ended || events & EPOLLIN;
    s->writable = s->writable || events & (EPOLLOUT | EPOLLHUP | EPOLLERR);
}

int source_again(struct porter *p, struct source *s)
{
    struct epoll_event ev = { .events = s->events, .data.ptr = s };
    return epoll_ctl(p->epoll_fd, EPOLL_CTL_MOD, s->fd, &ev);
}

void source_close(struct source *s)
{
    fd_close(&s->fd);
    s->known = false;
}

bool porter_take_fds(struct porter *p, size_t n)
{
    if (n > p->fds_max - p->fds)
        return false;
    p->fds += n;
    return true;
}

void porter_give_fds(struct porter *p, size_t n)
{
    p->fds -= n;
}

void porter_bury(struct porter *p, struct dead *d)
{
    d->next = p->dead;
    p->dead = d;
}

static void free_dead(struct porter *p)
{
    while (p->dead) {
        struct dead *d = p->dead;
        p->dead = d->next;
        free(d->also);
        free(d);
    }
}

/* ---- the supervisor ---- */

static void on_control(struct source *s, uint32_t events)
{
    struct porter *p = (struct porter *)((char *)s - offsetof(struct porter, control));
    struct err e = { 0 };
    uint32_t number;
    (void)events;
    int got = wire_receive(s->fd, &p->message, &e);
    if (got < 0 && (e.sys == EAGAIN || e.sys == EINTR))
        return;
    if (got <= 0 || p->message.type != WIRE_KEEPER || wire_read_keeper(&p->message, &number, &e)) {
        p->over = true;
        return;
    }
    if (peer_new(p, fd_take(&p->message.fds[0]), &e))
        p->over = true;
    wire_message_done(&p->message);
}

/* ---- the loop ---- */

static void on_time(struct porter *p, uint64_t now_us)
{
    resolver_on_time(p->resolver);
    for (struct net *r = p->nets; r; r = r->next)
        net_on_time(r, now_us);
}

/* A keeper that broke while we sent: no event follows about a descriptor that is closed. */
static void end_broken_peers(struct porter *p)
{
    struct peer *next;
    for (struct peer *peer = p->peers; peer; peer = next) {
        next = peer->next;
        if (peer->source.fd < 0)
            peer_close(peer);
    }
}

static void loop(struct porter *p)
{
    uint64_t tick_us = clock_us();
    while (!p->over) {
        struct epoll_event events[EVENTS_MAX];
        int tick_ms = p->connecting > 0 ? CONNECTING_TICK_MS : TICK_MS;
        int wait = resolver_wait_ms(p->resolver, p->nets ? tick_ms : -1);
        int n = epoll_wait(p->epoll_fd, events, EVENTS_MAX, wait);
        if (n < 0 && errno != EINTR)
            return;
        for (int i = 0; i < n; i++) {
            struct source *s = events[i].data.ptr;
            if (s->fd >= 0)
                s->on_ready(s, events[i].events);
        }
        end_broken_peers(p);
        if (n == 0)
            resolver_on_time(p->resolver); /* it may be the one that waited */
        uint64_t now = clock_us();
        if (now - tick_us >= (uint64_t)tick_ms * 1000) {
            tick_us = now;
            on_time(p, now);
        }
        free_dead(p);
    }
}

/* ---- its start ---- */

static int become(uid_t uid, pid_t parent, struct err *e)
{
    (void)prctl(PR_SET_NAME, "belljar-porter", 0, 0, 0);
    if (setsid() < 0)
        return err_set(e, ERR_KERNEL, errno, "start a session");
    if (caps_drop_bounding(e))
        return -1;
    if (uid != geteuid() &&
        (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
        return err_set(e, ERR_KERNEL, errno, "become uid %u", uid);
    /* After the change of uid, because that clears the death signal. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || caps_clear(0, e))
        return err_set(e, ERR_KERNEL, errno, "give up privileges");
    return getppid() == parent ? 0 : err_set(e, ERR_UNAVAILABLE, 0, "the parent has died");
}

static int copy_rules(struct porter *p, const struct porter_setup *s, struct err *e)
{
    struct address_rules *rules = &p->gate.rules;
    if (s->private_ranges && s->private_ranges->n > 0) {
        size_t bytes = s->private_ranges->n * sizeof *s->private_ranges->v;
        rules->private_ranges.v = malloc(bytes);
        if (!rules->private_ranges.v)
            return err_no_memory(e, "the porter");
        memcpy(rules->private_ranges.v, s->private_ranges->v, bytes);
        rules->private_ranges.n = s->private_ranges->n;
    }
    if (s->n_listeners > 0) {
        rules->listeners = calloc(s->n_listeners, sizeof *rules->listeners);
        if (!rules->listeners)
            return err_no_memory(e, "the porter");
        memcpy(rules->listeners, s->listeners, s->n_listeners * sizeof *rules->listeners);
        rules->n_listeners = s->n_listeners;
    }
    p->match_sni = s->match_sni;
    p->bounded = s->max != NULL;
    return s->max ? network_policy_copy(s->max, &p->max, e) : 0;
}

static int bound_use(struct porter *p, struct err *e)
{
    struct rlimit files;
#ifndef __SANITIZE_ADDRESS__ /* which maps terabytes */
    const struct rlimit memory = { MEMORY_BYTES, MEMORY_BYTES };
    if (setrlimit(RLIMIT_DATA, &memory) < 0)
        return err_set(e, ERR_KERNEL, errno, "bound the memory of the porter");
#endif
    (void)process_raise_open_files();
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return err_set(e, ERR_KERNEL, errno, "bound the descriptors of the porter");
    if (files.rlim_cur <= FDS_RESERVED)
        return err_set(e, ERR_UNAVAILABLE, 0, "the porter may have %ju descriptors, too few",
                       (uintmax_t)files.rlim_cur);
    p->fds_max = (size_t)files.rlim_cur - FDS_RESERVED;
    return 0;
}

/* The resolver reads the settings of the machine before there is no file any more. */
static int prepare(struct porter *p, const struct porter_setup *s, int fd, pid_t parent,
                   struct err *e)
{
    static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1 };
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    const int kept[] = { fd, s->injector_fd };
    if (fd_keep_only(kept, 2, e) || process_null_fds(2, e))
        return -1;
    if (bound_use(p, e))
        return -1;
    p->control = (struct source){ .on_ready = on_control, .fd = fd };
    p->injector = (struct source){ .on_ready = inject_on_parent, .fd = s->injector_fd };
    p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (p->epoll_fd < 0 || source_watch(p, &p->control, EPOLLIN) ||
        (p->injector.fd >= 0 && source_watch(p, &p->injector, EPOLLIN)))
        return err_set(e, ERR_KERNEL, errno, "wait for events");
    return copy_rules(p, s, e) || gate_open(&p->gate, e) || resolver_new(p, &p->resolver, e) ||
                   fd_set_nonblock(fd, e) || become(s->uid, parent, e) ||
                   confinement_enter(ROLE_PORTER, NULL, e)
               ? -1
               : 0;
}

_Noreturn static void porter_main(const struct porter_setup *s, int fd, pid_t parent)
{
    struct err e = { 0 };
    struct porter *p = calloc(1, sizeof *p);
    if (!p)
        _exit(1);
    p->gate.route_fd = -1;
    if (prepare(p, s, fd, parent, &e))
        _exit(1);
    loop(p);
    while (p->peers)
        peer_close(p->peers);
    free_dead(p);
    resolver_free(p->resolver);
    gate_done(&p->gate);
    network_policy_done(&p->max);
    fd_close(&p->epoll_fd);
    free(p);
    _exit(0); /* a sanitizer that looks for leaks needs /proc, which is out of reach here */
}

int porter_start(const struct porter_setup *setup, struct porter_process *ret, struct err *e)
{
    int fds[2];
    pid_t self = getpid();
    struct porter_process made = PORTER_PROCESS_INIT;
    struct porter_setup own = *setup;
    own.injector_fd = -1;
    if (wire_pair(fds, e))
        return -1;
    autoclose int ours = fds[0], theirs = fds[1];
    if (setup->injector && (injector_start(setup->injector, &made.injector, e) ||
                            fd_set_nonblock(made.injector.fd, e)))
        return -1;
    own.injector_fd = made.injector.fd;
    made.pid = fork();
    if (made.pid == 0)
        porter_main(&own, theirs, self);
    if (made.pid < 0) {
        (void)!err_set(e, ERR_KERNEL, errno, "start the porter");
        injector_stop(&made.injector);
        return -1;
    }
    fd_close(&made.injector.fd); /* the porter has it: the injector ends with the porter */
    made.fd = fd_take(&ours);
    *ret = made;
    return 0;
}

void porter_stop(struct porter_process *p)
{
    fd_close(&p->fd);
    if (p->pid > 0)
        (void)kill(p->pid, SIGKILL); /* its runs are over, and it may not listen */
    if (p->pid > 0)
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    p->pid = 0;
    injector_stop(&p->injector);
}
