/* wire/wire.h — the messages between keeper and warden, keeper and porter, and between the supervisor
 * of a service and its keeper, over SOCK_SEQPACKET, with descriptors.
 * Runs in: all four. One message is one datagram.
 *
 * Invariants
 * WIRE-1 A message of another version or an unknown type, with the wrong number of descriptors,
 *    with missing bytes or bytes left over, is an error: the receiver drops the peer and never
 *    guesses.
 * WIRE-2 Descriptors arrive CLOEXEC, and are closed if the message is refused.
 * WIRE-3 Strings hold exactly one NUL, at their end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pack.h"
#include "spec/cell.h"
#include "spec/isolation.h"
#include "spec/job.h"
#include "spec/limit.h"
#include "spec/live_file.h"
#include "spec/plumbing.h"
#include "spec/pool.h"
#include "spec/samples.h"
#include "spec/verdict.h"

enum {
    WIRE_VERSION = 6,
    WIRE_MAX_BYTES = 128 << 10,
    WIRE_MAX_FDS = 8,
    KEEP_FDS = 3, /* our ends of stdout, stderr and channel */
    KEEP_NOTE_MAX = 4096,
    WIRE_MAX_STRINGS = 4096,
    WIRE_MAX_TEXT = 64 << 10, /* of the arguments and environment of a program together */
};

#define WIRE_TABLE(X) /* id, name, number of descriptors */                   \
    X(WIRE_HELLO,   "hello",   0)  /* warden: its level and layers, or its error; also keeper to supervisor */ \
    X(WIRE_SPAWN,   "spawn",   JOB_FDS)  /* keeper: run this job */                     \
    X(WIRE_SESSION, "session", SESSION_FDS)  /* keeper: run this job, which is a session */ \
    X(WIRE_NEXT,    "next",    JOB_FDS)  /* keeper: run this job in the jar that rests */ \
    X(WIRE_KILL,    "kill",    0)  /* keeper: end a run */                       \
    X(WIRE_STARTED, "started", 0)  /* warden: the program runs */             \
    X(WIRE_ENDED,   "ended",   0)  /* warden: how it ended; its jar is gone, or rests */ \
    X(WIRE_WARDEN,  "warden",  1)  /* supervisor: the wire of a new warden */       \
    X(WIRE_SETTINGS, "settings", 0) /* supervisor: new settings */ \
    X(WIRE_DRAIN,   "drain",   0)  /* supervisor: finish, then exit */         \
    X(WIRE_LANGUAGE, "language", 1) /* supervisor: a language was installed */ \
    X(WIRE_TARGETS, "targets", 0)  /* keeper: embryos to keep ready, by kind */ \
    X(WIRE_POOLS,   "pools",   0)  /* warden: the state of the pools; the answer to targets */ \
    X(WIRE_SAMPLES, "samples", 0)  /* warden: its usage over time; right before ended */ \
    X(WIRE_SEAL,    "seal",    0)  /* keeper to supervisor and back: the head of the audit log */ \
    X(WIRE_STOPPED, "stopped", 0) /* supervisor: a process was stopped, and resumed */ \
    X(WIRE_CELL,    "cell",    0)  /* keeper: a cell of a session begins or is over */ \
    X(WIRE_CELL_END, "cell-end", 0) /* warden: the usage of a cell */ \
    X(WIRE_INTERRUPT, "interrupt", 0) /* keeper: interrupt the cell of a session */ \
    X(WIRE_KEEPER,  "keeper",  1)  /* supervisor to warden: the wire of a new keeper */ \
    X(WIRE_KEEP,    "keep",    KEEP_FDS) /* keeper: hold this session for the next keeper */ \
    X(WIRE_ADOPT,   "adopt",   0)  /* keeper: which session does the last keeper leave */ \
    X(WIRE_KEPT,    "kept",    KEEP_FDS) /* warden: this one */ \
    X(WIRE_ADOPTED, "adopted", 0)  /* warden: no more */ \
    X(WIRE_FILES,   "files",   2)  /* keeper: one operation on the files of a session */ \
    X(WIRE_MEASURE, "measure", 0)  /* keeper: the usage of this jar until now */ \
    X(WIRE_MEASURED, "measured", 0) /* warden: so much; the answer to measure */ \
    X(WIRE_NETWORK, "network", 1)  /* keeper: the sockets of the next job */ \
    X(WIRE_PLUMB,   "plumb",   1)  /* keeper: sockets for a session that runs */ \
    X(WIRE_PLUMBED, "plumbed", 0)  /* warden: they are made, or the error; the answer to plumb */ \
    X(WIRE_PORTER,  "porter",  1)  /* supervisor: the socket of a new porter */ \
    X(WIRE_PORTER_LOST, "porter-lost", 0) /* keeper to supervisor: that socket is of no use */ \
    X(WIRE_NET_OPEN, "net-open", 1) /* keeper to porter: a policy, and the sockets will come here */ \
    X(WIRE_NET_CHANGE, "net-change", 0) /* keeper to porter: another policy */ \
    X(WIRE_NET_RECORD, "net-record", 0) /* porter: one line of the log */ \
    X(WIRE_NET_CHANGED, "net-changed", 0) /* porter: the answer to net-change */ \
    X(WIRE_NET_CLOSED, "net-closed", 0) /* porter: the last message about a jar */ \
    X(WIRE_ALIVE,   "alive",   0)  /* supervisor to keeper and back: does its loop still turn */

enum wire_type {
#define X(id, name, fds) id,
    WIRE_TABLE(X)
#undef X
        WIRE_TYPE_COUNT_
};

struct wire_message {
    enum wire_type type;
    int fds[WIRE_MAX_FDS]; /* -1: none; the receiver owns them */
    uint32_t len;
    char bytes[WIRE_MAX_BYTES];
};
void wire_message_done(struct wire_message *m);

[[nodiscard]] int wire_pair(int ret_fds[2], struct err *e);

/* On a blocking socket waits for room; on another one fails without room. ERR_UNAVAILABLE when the
 * peer is gone. */
[[nodiscard]] int wire_send(int fd, enum wire_type type, const struct packer *body,
                            const char *bytes, const int *fds, struct err *e);

/* 1 with a message, 0 when the peer has closed, -1 on error. */
[[nodiscard]] int wire_receive(int fd, struct wire_message *m, struct err *e);

/* The id of the run in a started, ended, samples, cell-end, measured or plumbed message. A receiver uses it to
 * find the run, which then reads the message. An error for every other message. */
[[nodiscard]] int wire_message_id(const struct wire_message *m, uint64_t *ret_id, struct err *e);

/* hello */
struct wire_hello {
    struct err err; /* ERR_NONE: the level was reached */
    struct isolation isolation;
};
[[nodiscard]] int wire_send_hello(int fd, const struct wire_hello *h, struct err *e);
[[nodiscard]] int wire_read_hello(const struct wire_message *m, struct wire_hello *ret,
                                  struct err *e);

/* spawn; with JOB_SESSION it is a session message. In a message that is sent, a list may be NULL. The strings of a received one point into
 * the message; wire_spawn_done() frees the lists alone. */
struct wire_spawn {
    uint64_t id;  /* chosen by the keeper, unique while the run lives */
    bool is_next; /* a next message: for the jar of this id, which rests */
    struct job_spec job;
};
void wire_spawn_done(struct wire_spawn *s);
/* JOB_FDS descriptors, of a session SESSION_FDS. */
[[nodiscard]] int wire_send_spawn(int fd, const struct wire_spawn *s, const int *fds,
                                  struct err *e);
[[nodiscard]] int wire_read_spawn(const struct wire_message *m, struct wire_spawn *ret,
                                  struct err *e);

/* kill */
struct wire_kill {
    uint64_t id;
    enum end_reason reason;
};
[[nodiscard]] int wire_send_kill(int fd, const struct wire_kill *k, struct err *e);
[[nodiscard]] int wire_read_kill(const struct wire_message *m, struct wire_kill *ret,
                                 struct err *e);

/* started */
struct wire_started {
    uint64_t id;
    enum start start;
};
[[nodiscard]] int wire_send_started(int fd, const struct wire_started *s, struct err *e);
[[nodiscard]] int wire_read_started(const struct wire_message *m, struct wire_started *ret,
                                    struct err *e);

/* ended */
struct wire_ended {
    uint64_t id;
    struct err err; /* the cause, when evidence.reason is END_FAILURE */
    struct evidence evidence;
    struct usage usage;
    bool rests; /* the jar waits for a next or a kill message */
};
[[nodiscard]] int wire_send_ended(int fd, const struct wire_ended *x, struct err *e);
[[nodiscard]] int wire_read_ended(const struct wire_message *m, struct wire_ended *ret,
                                  struct err *e);

/* samples */
struct wire_samples {
    uint64_t id;
    struct samples samples;
};
[[nodiscard]] int wire_send_samples(int fd, uint64_t id, const struct samples *s, struct err *e);
[[nodiscard]] int wire_read_samples(const struct wire_message *m, struct wire_samples *ret,
                                    struct err *e);

/* warden; the descriptor is the keeper's end of the wire */
[[nodiscard]] int wire_send_warden(int fd, const struct isolation *isolation, int wire_fd,
                                   struct err *e);
[[nodiscard]] int wire_read_warden(const struct wire_message *m, struct isolation *ret,
                                   struct err *e);

/* settings, as text (settings/settings.h), up to WIRE_MAX_TEXT bytes. The text that was read points
 * into the message. */
[[nodiscard]] int wire_send_settings(int fd, const char *text, struct err *e);
[[nodiscard]] int wire_read_settings(const struct wire_message *m, const char **ret_text,
                                     struct err *e);

/* stopped: the warden or the keeper */
[[nodiscard]] int wire_send_stopped(int fd, struct err *e);
[[nodiscard]] int wire_read_stopped(const struct wire_message *m, struct err *e);

/* alive: the answer has the number of the question */
[[nodiscard]] int wire_send_alive(int fd, uint32_t number, struct err *e);
[[nodiscard]] int wire_read_alive(const struct wire_message *m, uint32_t *ret_number,
                                  struct err *e);

/* drain */
struct wire_drain {
    bool now; /* cancel the runs instead of waiting for them */
};
[[nodiscard]] int wire_send_drain(int fd, const struct wire_drain *d, struct err *e);
[[nodiscard]] int wire_read_drain(const struct wire_message *m, struct wire_drain *ret,
                                  struct err *e);

/* seal */
enum { WIRE_HASH_BYTES = 32 };
struct wire_seal {
    uint64_t seq;
    uint64_t removed; /* the log has none of the first `removed` records any more */
    uint8_t head[WIRE_HASH_BYTES];
};
[[nodiscard]] int wire_send_seal(int fd, const struct wire_seal *s, struct err *e);
[[nodiscard]] int wire_read_seal(const struct wire_message *m, struct wire_seal *ret,
                                 struct err *e);
/* language: its index in languages[] of the same program; its version arrives on the descriptor */
[[nodiscard]] int wire_send_language(int fd, uint32_t index, int answer_fd, struct err *e);
[[nodiscard]] int wire_read_language(const struct wire_message *m, uint32_t *ret_index,
                                     struct err *e);

/* cell; a number of 0: the cell is over, and the warden answers with its usage */
struct wire_cell {
    uint64_t id;
    struct cell_limits limits;
};
[[nodiscard]] int wire_send_cell(int fd, uint64_t id, const struct cell_limits *limits,
                                 struct err *e);
[[nodiscard]] int wire_read_cell(const struct wire_message *m, struct wire_cell *ret,
                                 struct err *e);
/* cell-end; also right before ended, if a cell ran until then */
struct wire_cell_end {
    uint64_t id;
    struct cell_usage usage;
};
[[nodiscard]] int wire_send_cell_end(int fd, uint64_t id, const struct cell_usage *c,
                                     struct err *e);
[[nodiscard]] int wire_read_cell_end(const struct wire_message *m, struct wire_cell_end *ret,
                                     struct err *e);
/* measure */
[[nodiscard]] int wire_send_measure(int fd, uint64_t id, struct err *e);
[[nodiscard]] int wire_read_measure(const struct wire_message *m, uint64_t *ret_id, struct err *e);

/* measured */
struct wire_measured {
    uint64_t id;
    uint64_t memory_bytes; /* now; 0: not known */
    uint64_t pids;         /* now; 0: not known */
    struct usage usage;    /* of its job until now */
};
[[nodiscard]] int wire_send_measured(int fd, const struct wire_measured *x, struct err *e);
[[nodiscard]] int wire_read_measured(const struct wire_message *m, struct wire_measured *ret,
                                     struct err *e);

/* interrupt */
[[nodiscard]] int wire_send_interrupt(int fd, uint64_t id, struct err *e);
[[nodiscard]] int wire_read_interrupt(const struct wire_message *m, uint64_t *ret_id,
                                      struct err *e);

/* keeper; its number counts from 1. The descriptor is the warden's end of the wire. */
[[nodiscard]] int wire_send_keeper(int fd, uint32_t number, int wire_fd, struct err *e);
[[nodiscard]] int wire_read_keeper(const struct wire_message *m, uint32_t *ret_number,
                                   struct err *e);
/* Makes the wire of a new keeper and sends one end to the warden. When the keeper dies, its end is
 * closed, and the warden ends every jar that the keeper has not asked it to keep. */
[[nodiscard]] int wire_new_keeper(int warden_fd, uint32_t number, int *ret_fd, struct err *e);
/* keep; the note is for the next keeper, which must not believe it. It points into the message. */
struct wire_keep {
    uint64_t id;
    const char *note;
    size_t note_len; /* up to KEEP_NOTE_MAX */
};
[[nodiscard]] int wire_send_keep(int fd, const struct wire_keep *k, const int fds[KEEP_FDS],
                                 struct err *e);
[[nodiscard]] int wire_read_keep(const struct wire_message *m, struct wire_keep *ret,
                                 struct err *e);
/* adopt; the answer is kept, with the lowest id above `after`, or adopted: there is none */
[[nodiscard]] int wire_send_adopt(int fd, uint64_t after, struct err *e);
[[nodiscard]] int wire_read_adopt(const struct wire_message *m, uint64_t *ret_after, struct err *e);
/* adopted; the number of sessions that are kept */
[[nodiscard]] int wire_send_adopted(int fd, uint32_t kept, struct err *e);
[[nodiscard]] int wire_read_adopted(const struct wire_message *m, uint32_t *ret_kept,
                                    struct err *e);
/* kept; if the session ended without a keeper, cell-end and ended follow at once */
struct wire_kept {
    uint64_t id;
    bool started;
    enum start start;
    uint64_t cell; /* that still runs; 0: none */
    const char *note;
    size_t note_len;
};
[[nodiscard]] int wire_send_kept(int fd, const struct wire_kept *k, const int fds[KEEP_FDS],
                                 struct err *e);
[[nodiscard]] int wire_read_kept(const struct wire_message *m, struct wire_kept *ret,
                                 struct err *e);

/* files; the descriptors are a pipe for the answer (spec/live_file.h), and the sealed bytes of a
 * write or the pipe again. The answer comes over the pipe alone. The path points into the
 * message. */
struct wire_files {
    uint64_t id;
    enum live_file_operation operation;
    const char *path; /* "": all of /sandbox */
};
[[nodiscard]] int wire_send_files(int fd, const struct wire_files *f, const int fds[2],
                                  struct err *e);
[[nodiscard]] int wire_read_files(const struct wire_message *m, struct wire_files *ret,
                                  struct err *e);

/* targets, pools */
[[nodiscard]] int wire_send_targets(int fd, const struct pool_targets *t, struct err *e);
[[nodiscard]] int wire_read_targets(const struct wire_message *m, struct pool_targets *ret,
                                    struct err *e);
struct wire_pools {
    uint32_t kinds; /* entries of state */
    struct pool_state state[ZYGOTE_KINDS_MAX];
};
[[nodiscard]] int wire_send_pools(int fd, const struct wire_pools *p, struct err *e);
[[nodiscard]] int wire_read_pools(const struct wire_message *m, struct wire_pools *ret,
                                  struct err *e);

/* network: the sockets to make in the jar of the next spawn or session message, which has the same id
 * and JOB_NETWORK. They go over the descriptor, one end of a nameless pair, to the porter. */
struct wire_network {
    uint64_t id;
    struct plumbing plumbing;
};
[[nodiscard]] int wire_send_network(int fd, uint64_t id, const struct plumbing *p, int socket_fd,
                                    struct err *e);
[[nodiscard]] int wire_read_network(const struct wire_message *m, struct wire_network *ret,
                                    struct err *e);

/* plumb: the same for a session that runs; its sockets of before are closed, or will be soon */
[[nodiscard]] int wire_send_plumb(int fd, uint64_t id, const struct plumbing *p, int socket_fd,
                                  struct err *e);
[[nodiscard]] int wire_read_plumb(const struct wire_message *m, struct wire_network *ret,
                                  struct err *e);
/* plumbed */
struct wire_plumbed {
    uint64_t id;
    struct err err; /* ERR_NONE: the porter has the sockets */
};
[[nodiscard]] int wire_send_plumbed(int fd, const struct wire_plumbed *x, struct err *e);
[[nodiscard]] int wire_read_plumbed(const struct wire_message *m, struct wire_plumbed *ret,
                                    struct err *e);

/* porter; the descriptor is the keeper's end of a socket to it. The sockets are numbered. */
[[nodiscard]] int wire_send_porter(int fd, uint32_t number, int socket_fd, struct err *e);
[[nodiscard]] int wire_read_porter(const struct wire_message *m, uint32_t *ret_number,
                                   struct err *e);
/* porter-lost: the porter behind the socket with this number is silent or gone */
[[nodiscard]] int wire_send_porter_lost(int fd, uint32_t number, struct err *e);
[[nodiscard]] int wire_read_porter_lost(const struct wire_message *m, uint32_t *ret_number,
                                        struct err *e);

/* net-open and net-change have a policy, net-record a record, as src/network packs them. The bytes of
 * a message that was read point into it. The descriptor of net-open is the other end of the pair of a
 * network message. The keeper keeps a copy of that end: when all copies are closed, the jar is gone. */
struct wire_net {
    uint64_t id; /* of the jar */
    const char *bytes;
    size_t n;
};
[[nodiscard]] int wire_send_net_open(int fd, const struct wire_net *x, int socket_fd,
                                     struct err *e);
[[nodiscard]] int wire_send_net_change(int fd, const struct wire_net *x, struct err *e);
[[nodiscard]] int wire_send_net_record(int fd, const struct wire_net *x, struct err *e);
[[nodiscard]] int wire_read_net(const struct wire_message *m, enum wire_type type,
                                struct wire_net *ret, struct err *e);
/* net-changed: the policy holds, and every record of before has been sent; net-closed */
struct wire_net_closed {
    uint64_t id;
    uint64_t unsent;   /* records that were not sent since the last such message */
    uint64_t unrouted; /* attempts to reach an address without a route, since then */
    uint64_t refused;  /* or a port where nobody listens */
};
[[nodiscard]] int wire_send_net_changed(int fd, const struct wire_net_closed *x, struct err *e);
[[nodiscard]] int wire_read_net_changed(const struct wire_message *m, struct wire_net_closed *ret,
                                        struct err *e);
[[nodiscard]] int wire_send_net_closed(int fd, const struct wire_net_closed *x, struct err *e);
[[nodiscard]] int wire_read_net_closed(const struct wire_message *m, struct wire_net_closed *ret,
                                       struct err *e);
