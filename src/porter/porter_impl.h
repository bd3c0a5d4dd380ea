/* porter/porter_impl.h — shared by the files of this room. Runs in: porter.
 *
 * One epoll loop. Each object that epoll watches begins with a struct source. A closed object is
 * freed after the events at hand: one of them may be about it. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "network/policy.h"
#include "network/record.h"
#include "porter/gate.h"
#include "porter/hello.h"
#include "porter/plan.h"
#include "wire/wire.h"

struct porter;
struct source {
    void (*on_ready)(struct source *s, uint32_t events);
    int fd;          /* -1: closed */
    uint32_t events; /* that epoll watches for */
    bool known;      /* to epoll */
    bool readable, writable,
        ended; /* of a side of a connection: epoll said so, and it still holds */
};
/* events 0: it is not watched, for errors neither. */
[[nodiscard]] int source_watch(struct porter *p, struct source *s, uint32_t events);
/* A side of a connection: epoll tells each change once. */
#define SOURCE_CHANGES ((uint32_t)EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)
/* Notes the changes that epoll told. */
void source_note(struct source *s, uint32_t events);
/* epoll tells the present state again; also to another object that has taken the descriptor over. */
[[nodiscard]] int source_again(struct porter *p, struct source *s);
void source_close(struct source *s);

/* Descriptors are counted, so that a connection is refused before the kernel refuses to accept one. */
[[nodiscard]] bool porter_take_fds(struct porter *p, size_t n);
void porter_give_fds(struct porter *p, size_t n);

/* Freed after the events at hand. */
struct dead {
    struct dead *next;
    void *also; /* freed with it */
};

/* A keeper. */
struct unsent {
    struct unsent *next;
    uint64_t run;
    /* net-closed or net-changed, with their counts */
    bool closes, changes;
    struct wire_net_closed counts; /* of an end or a change */
    size_t n;
    char bytes[];
};
struct peer {
    struct dead dead;
    struct source source;
    struct porter *porter;
    struct unsent *first, *last;
    size_t unsent_bytes;
    unsigned n_nets;
    struct peer *next;
};

struct net;
struct listener {
    struct source source;
    struct net *run;
    struct plumbing_listener at;
};

/* A connection to the name server of a jar. */
enum { DNS_STREAMS = 4 };
struct dns_stream {
    struct source source;
    struct net *run;
    uint64_t used_us;
    size_t have;
    uint8_t bytes[2 + 512];
};

/* As the kernel of the jar has counted them: to an address without a route, and to a port where nobody listens. */
struct attempts {
    uint64_t unrouted, refused;
};

struct net {
    struct dead dead;
    uint64_t id;
    struct porter *porter;
    struct peer *peer;
    struct network_policy policy;
    struct plumbing plumbing;
    struct source hand_over; /* sockets come here; its end is the end of the jar */
    struct source injector;  /* of this run; -1: none */
    struct listener dns_udp, dns_tcp;
    int counters[2];          /* files of the kernel, for IPv4 and IPv6; -1: none yet */
    struct attempts attempts; /* their sums, when they were told last */
    struct dns_stream streams[DNS_STREAMS];
    struct listener *listeners; /* plumbing.n of them */
    struct net_name {
        uint32_t ipv4;
        char *name;
    } * names; /* with their synthetic addresses */
    size_t n_names, room_names;
    struct flow *flows;
    unsigned n_roomy; /* of them */
    struct dialog *dialogs;
    uint32_t next_record;
    size_t fds;  /* counted for its sockets */
    bool paused; /* its listeners wait for the next tick */
    uint64_t n_flows, flows_total, records, omitted, bytes_in, bytes_out;
    unsigned denials;                  /* among the records */
    char denied[NETWORK_NAME_MAX + 1]; /* the last name: libraries ask twice */
    uint32_t caps_noted;               /* bits: the log has them */
    struct net *next;
};

/* One direction of a connection. */
struct way {
    struct source *from, *to;
    bool ended, shut; /* `from` has no more; `to` was told so */
    char *held;       /* bytes that `to` has not taken; NULL: none */
    size_t n_held, at_held;
    int pipe[2];    /* of a large stream, for splice(2); 0: none yet */
    size_t n_piped; /* bytes in it */
    uint64_t passed;
    uint64_t *counter; /* of the record */
};

enum { TARGETS_MAX = 8 };
union target {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct resolver;
struct query;
enum flow_state { FLOW_RESOLVING, FLOW_CONNECTING, FLOW_RELAYING, FLOW_OVER };
struct flow {
    struct dead dead;
    struct net *run;
    enum flow_state state;
    struct source guest, remote;
    struct source rival; /* an earlier attempt that may still succeed */
    struct query *query;
    union target targets[TARGETS_MAX];
    size_t n_targets, target;   /* the next one to try */
    size_t of_remote, of_rival; /* their targets */
    bool told;                  /* the log has its beginning */
    bool roomy;                 /* its buffers grow as the kernel likes */
    int last_errno;
    bool awaits_hello; /* the first bytes of the guest are looked at */
    bool injected;     /* `remote` leads to the injector, which has the connection to the host */
    enum network_outcome noted; /* by the injector; NETWORK_OPEN: none */
    uint64_t due_us;  /* of the last attempt to connect, or of the hello; UINT64_MAX: none */
    uint64_t next_us; /* of the next attempt */
    uint64_t used_us; /* the last byte */
    uint64_t started_us;
    struct way out, in;
    struct network_record record;
    struct flow *prev, *next;
};

struct porter {
    int epoll_fd;
    struct source control;  /* the supervisor, or main */
    struct source injector; /* -1: there is none */
    struct peer *peers;
    struct net *nets;
    struct gate gate;
    struct network_policy max; /* mode none: there is no maximum */
    bool bounded;              /* there is one */
    bool match_sni;
    struct resolver *resolver;
    struct dead *dead;
    uint64_t flows;      /* of all runs */
    unsigned n_roomy;    /* of these */
    uint64_t connecting; /* of these: they may need another attempt soon */
    size_t fds, fds_max; /* in use, and the most: the rest is for the porter itself */
    bool over;
    struct wire_message message; /* the current one; too large for the stack */
};
void porter_bury(struct porter *p, struct dead *d);

/* unrouted.c */
/* Takes the descriptor. used: its namespace may have counts already. */
void unrouted_take(struct net *r, bool ipv6, int fd, bool used);
/* Since the last call. */
struct attempts unrouted_count(struct net *r);
void unrouted_close(struct net *r);

/* nets.c */
[[nodiscard]] int net_open(struct peer *peer, const struct wire_net *x, int *fd, struct err *e);
[[nodiscard]] int net_change(struct peer *peer, const struct wire_net *x, struct err *e);
void net_close(struct net *r);
struct net *net_find(struct porter *p, const struct peer *peer, uint64_t id);
/* The name at this synthetic address; NULL: none. */
const char *net_name_at(const struct net *r, uint32_t ipv4);
/* The address of a name that the policy has; 0: there is no more room. */
uint32_t net_address_of(struct net *r, const char *name);
void net_record(struct net *r, const struct network_record *record);
/* A cap was met: the record says which. */
void net_note_limit(struct net *r, enum network_cap cap);
void net_close_listeners(struct net *r);
/* The run may receive or send no more: every connection of it ends. */
void net_meet_cap(struct net *r, enum network_cap cap);
void net_on_time(struct net *r, uint64_t now_us);
/* The kernel accepts nothing now: the listeners wait for the next tick. */
void net_pause(struct net *r);

/* dns_server.c */
void dns_on_datagram(struct source *s, uint32_t events);
void dns_on_connection(struct source *s, uint32_t events);
void dns_on_time(struct net *r, uint64_t now_us);
void dns_close(struct net *r);

/* dialog.c */
void dialog_on_datagram(struct source *s, uint32_t events);
void dialog_on_time(struct net *r, uint64_t now_us);
void dialog_check_all(struct net *r);
void dialog_end_all(struct net *r, enum network_outcome outcome, enum network_cap cap);

/* flow.c */
/* The port, and the name if it has one, of an address that the guest uses; false: the policy refuses it. */
bool flow_find_target(const struct net *r, enum network_protocol protocol,
                      const union target *local, struct network_record *ret);
void flow_listener_address(const struct plumbing_listener *at, union target *ret);
/* False: a cap refuses another connection. */
bool flow_has_room(struct net *r);
void flow_on_connection(struct source *s, uint32_t events);
void flow_end(struct flow *f, enum network_outcome outcome);
void flow_on_time(struct flow *f, uint64_t now_us);
/* Ends the connections that the policy has no more. */
void flow_check_all(struct net *r);
/* The log has the beginning or the end of every connection, as the kernel knows them now. */
void flow_tell_all(struct net *r);
/* relay.c */
void relay_begin(struct flow *f);
void relay_on_guest(struct source *s, uint32_t events);
void relay_close_pipe(struct flow *f, struct way *w);
/* Both sides may have bytes, or their end, that epoll has not told yet. */
void relay_look(struct flow *f);
/* The guest has not sent a whole message in time. */
void relay_give_up_hello(struct flow *f);

/* inject.c */
/* Asks for an injector, if the policy has secrets. x is the message with the policy. */
[[nodiscard]] int inject_open(struct net *r, const struct wire_net *x, struct err *e);
/* Whether this connection gets a secret. */
bool inject_wants(const struct flow *f);
/* The connection to the host is made: the injector gets it, and f->remote leads to the injector. -1: the
 * connection cannot be served. */
[[nodiscard]] int inject_connect(struct flow *f);
/* The injector of the service has ended, or talks. */
void inject_on_parent(struct source *s, uint32_t events);

/* peers.c */
[[nodiscard]] int peer_new(struct porter *p, int fd, struct err *e);
/* False: the keeper has not read enough of the earlier ones. */
bool peer_send_record(struct peer *peer, uint64_t run, const char *bytes, size_t n);
void peer_send_closed(struct peer *peer, const struct wire_net_closed *counts);
void peer_send_changed(struct peer *peer, const struct wire_net_closed *counts);
void peer_close(struct peer *peer);

/* resolver.c */
/* The addresses of the name; n 0: there are none. */
typedef void query_done(void *context, const union target *targets, size_t n);
[[nodiscard]] int resolver_new(struct porter *p, struct resolver **ret, struct err *e);
void resolver_free(struct resolver *r);
/* NULL: no memory. done() may be called before this returns, and then the result is NULL too. */
struct query *resolver_ask(struct resolver *r, const char *name, uint16_t port, query_done *done,
                           void *context);
void resolver_forget(struct query *q); /* done() will not be called */
int resolver_wait_ms(struct resolver *r, int most);
void resolver_on_time(struct resolver *r);
