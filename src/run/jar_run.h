/* run/jar_run.h — one jar as the keeper sees it: its pipes, its output limit and its end.
 * Runs in: keeper. A jar_run has no event loop. A command waits with poll(2): jar_run_polls() lists
 * the descriptors and jar_run_ready() handles them. The service waits with libuv and calls
 * jar_run_on_message() and jar_run_read().
 *
 * Invariants
 * JAR_RUN-1 Every buffer is bounded: a stream is read only after the sink has taken all earlier
 *           bytes of it.
 * JAR_RUN-2 The bytes of a stream reach the sink unchanged, up to the output limit. The first byte
 *           beyond the limit ends the run.
 * JAR_RUN-3 A jar_run is over after the warden has sent `ended`, every pipe is at its end, and the
 *           porter has closed its network, if it has one. The network of a jar that rests stays open.
 * JAR_RUN-4 The result of a run that was asked to end is true: either its verdict is `cancelled`, or
 *           the verdict is that of its own end and the sink has taken all of its output. This
 *           holds however late the request comes. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "network/record.h"
#include "porter/client.h"
#include "runtime/language.h"
#include "spec/isolation.h"
#include "spec/run_options.h"
#include "spec/verdict.h"
#include "wire/wire.h"

enum run_stream { RUN_STDOUT, RUN_STDERR, RUN_STREAMS };

/* The pipes of a jar. We read from all but stdin. */
enum jar_pipe {
    PIPE_STDOUT = RUN_STDOUT,
    PIPE_STDERR = RUN_STDERR,
    PIPE_OUTPUTS,
    PIPE_STDIN,
    JAR_PIPES
};

struct jar_request {
    uint64_t id; /* unique among the jars of this wire */
    const struct language *language;
    const char *const *command;      /* with placeholders; NULL: the command of the language */
    char *const *sources;            /* the value of {sources}; may be NULL */
    const char *const *language_env; /* K=V with placeholders; NULL: that of the language */
    const char *main_name;           /* the name of the main file in /sandbox */
    char *const *args;
    char *const *env; /* K=V; these override the built-in variables */
    char *const *outputs;
    struct limits limits;
    bool writable_root;
    char *const *mounts;               /* spec/mount.h; NULL: none */
    const struct run_options *options; /* NULL: none */
    bool sampled;                      /* the warden samples its usage over time */
    bool session;   /* the program stays and speaks over a channel; see spec/job.h */
    bool compiles;  /* it is a compiler or a type checker */
    bool stays;     /* if its program ends by itself, the jar rests: see struct wire_ended */
    bool no_values; /* its diagnosis has no values of variables, with any options */
    bool is_next;   /* it enters the jar of this id, which rests, with its network and mounts */
    unsigned kind;  /* of an embryo that may run it (runtime/language.h); 0: a cold start */
    int bundle_fd;
    const struct network_policy *network; /* NULL or mode none: no network */
    struct porter_client *porter;         /* outlives the jar_run; NULL: there is none */
};

/* Takes bytes of a stream. Returns the number of bytes taken, 0 to be offered the rest again by
 * jar_run_flush(), or -1 to end the run. */
typedef ssize_t jar_run_sink(void *context, enum run_stream stream, const char *bytes, size_t n);

struct jar_run_pipe {
    int fd;
    uint64_t seen; /* bytes read, also beyond the limit */
    bool truncated;
    size_t pending; /* bytes that the sink has not taken; they begin at bytes + from */
    size_t from;
    char bytes[16384];
};

struct jar_run {
    uint64_t id;
    int wire_fd;
    struct isolation isolation;
    struct limits limits;
    bool session;
    bool compiles;     /* as in the request */
    bool found_errors; /* its output has the word, if it compiles */
    jar_run_sink *sink;
    void *sink_context;
    struct jar_run_pipe streams[RUN_STREAMS];
    int stdin_fd; /* our end, to write; -1: closed */
    int outputs_fd;
    int channel_fd;          /* our end of the channel of a session, non-blocking; -1: none */
    struct buf outputs;      /* a bundle (spec/bundle.h) */
    struct cell_usage cell;  /* of the last cell that ended; number 0: none */
    uint64_t memory_bytes;   /* the answer to jar_run_measure(), if `measured` */
    uint64_t pids;           /* the same */
    struct usage usage;      /* the same: of its job until then */
    bool measured;           /* for the caller to reset */
    struct samples *samples; /* set when it has ended; NULL: not requested */
    bool started, ended;
    enum start start;
    enum end_reason requested_end; /* sent to the warden; END_EXIT: nothing was sent */
    bool cancelled;                /* the caller does not wait for a slow sink any longer */
    bool sink_closed;              /* the sink returned -1 */
    bool output_dropped;           /* the sink did not take all */
    uint64_t started_at_ms;        /* Unix time */
    int network_fd;                /* while we hold it, the porter serves the jar; -1: none */
    bool network_open;             /* the porter has not told all about it */
    unsigned network_number;       /* of a session: how often it was opened; part of its id */
    unsigned plumbs, changes;      /* requests to the warden and to the porter without an answer */
    uint64_t changed_ms;           /* clock_ms() of the first such change */
    struct err plumb_err;          /* of the last plumb; for the caller to reset */
    bool network_refused;          /* the porter does not serve the list; for the caller to reset */
    uint64_t ended_ms;             /* clock_ms(), if it has ended with an open network */
    struct network_log network;    /* complete once it is over */
    struct wire_ended end;
};
/* Without a jar: every descriptor is closed. */
#define JAR_RUN_NONE                                                                 \
    (struct jar_run)                                                                 \
    {                                                                                \
        .streams = { { .fd = -1 }, { .fd = -1 } }, .stdin_fd = -1, .outputs_fd = -1, \
        .channel_fd = -1, .network_fd = -1                                           \
    }

/* Sends the job to the warden. A session has no stdin, its sink counts the output itself, and its
 * owner reads and writes the channel. On failure no jar exists and no descriptor is open. With is_next,
 * r is that of the job before, and is over; on failure it does not change, and its jar still rests. */
[[nodiscard]] int jar_run_start(struct jar_run *r, int wire_fd, const struct isolation *isolation,
                                const struct jar_request *request, jar_run_sink *sink,
                                void *context, struct err *e);
void jar_run_done(struct jar_run *r);

enum { JAR_RUN_POLLS = 4, JAR_RUN_OUTPUTS_MAX = 1000 };
/* An entry that is not needed at the moment has fd -1. */
void jar_run_polls(const struct jar_run *r, struct pollfd polls[JAR_RUN_POLLS]);
/* Handles the events of poll(). -1: the warden is lost. */
[[nodiscard]] int jar_run_ready(struct jar_run *r, const struct pollfd polls[JAR_RUN_POLLS],
                                struct err *e);
/* Offers the pending bytes to the sink again. */
[[nodiscard]] int jar_run_flush(struct jar_run *r, struct err *e);

/* Handles a message of the wire with the id of this jar. Only the owner of a wire that several jars
 * share calls this; jar_run_ready() receives its messages itself. */
[[nodiscard]] int jar_run_on_message(struct jar_run *r, const struct wire_message *m,
                                     struct err *e);
/* Reads a pipe that is readable. At the end of the data it closes our end. */
[[nodiscard]] int jar_run_read(struct jar_run *r, enum jar_pipe pipe, struct err *e);

/* An event of the porter about this jar. A record goes to the log. */
void jar_run_on_network(struct jar_run *r, const struct porter_event *event,
                        struct network_log *log);
/* The id of the jar of an event: sessions may open their network more than once. */
uint64_t jar_run_of_event(const struct porter_event *event);
/* Opens the network of a session that runs; it has none. r->plumbs is 0 again, and r->plumb_err set,
 * once the warden has answered. */
[[nodiscard]] int jar_run_open_network(struct jar_run *r, struct porter_client *porter,
                                       const struct network_policy *policy, struct err *e);
/* As porter_client_change(). r->changes is 0 again once the porter has answered. */
[[nodiscard]] int jar_run_change_network(struct jar_run *r, struct porter_client *porter,
                                         const struct network_policy *policy, struct err *e);
/* Its connections are reset. r->network_open is false once the porter has said so. */
void jar_run_close_network(struct jar_run *r);
/* The porter is gone, and the network of the jar with it. The program goes on. */
void jar_run_on_porter_lost(struct jar_run *r);

/* Asks for the end. The program may have ended by itself meanwhile: see JAR_RUN-4. */
[[nodiscard]] int jar_run_cancel(struct jar_run *r, enum end_reason reason, struct err *e);
/* A cell of a session begins, or is over: then r->cell gets its usage with a later message. */
[[nodiscard]] int jar_run_begin_cell(struct jar_run *r, const struct cell_limits *limits,
                                     struct err *e);
[[nodiscard]] int jar_run_end_cell(struct jar_run *r, struct err *e);
/* Interrupts the cell, if it has not ended yet. */
[[nodiscard]] int jar_run_interrupt(struct jar_run *r, struct err *e);
/* Asks for its usage until now. The answer comes by jar_run_on_message(), unless the jar ends first. */
[[nodiscard]] int jar_run_measure(struct jar_run *r, struct err *e);
/* One operation on the files of a session that runs. The answer (spec/live_file.h) arrives on a
 * pipe, whose end the caller closes; it is non-blocking. `bytes` are those of a write. */
[[nodiscard]] int jar_run_files(struct jar_run *r, enum live_file_operation operation,
                                const char *path, const struct buf *bytes, int *ret_fd,
                                struct err *e);
/* The warden holds the session for the next keeper, with a note to it of up to KEEP_NOTE_MAX bytes.
 * A later call replaces the note. */
[[nodiscard]] int jar_run_keep(struct jar_run *r, const char *note, size_t n, struct err *e);
/* A session that the last keeper left: takes the descriptors of the kept message. */
[[nodiscard]] int jar_run_adopt(struct jar_run *r, int wire_fd, const struct isolation *isolation,
                                struct wire_message *m, jar_run_sink *sink, void *context,
                                struct err *e);
bool jar_run_is_over(const struct jar_run *r);
/* The time until which it waits for an answer or the last words of the porter, on clock_ms();
 * UINT64_MAX: it does not wait. A porter that is later is taken for lost: jar_run_on_porter_lost(). */
uint64_t jar_run_porter_due_ms(const struct jar_run *r);
/* Once it is over: decides from the evidence of the warden and our own. */
enum verdict jar_run_verdict(struct jar_run *r);
