/* run/jar_run.h — one run as the keeper sees it: pipes, caps, and the result.
 * Runs in: keeper. The caller owns the event loop: it polls jar_run_polls() and calls jar_run_ready().
 *
 * Invariants
 * R1 Nothing is buffered without a bound: a stream is only read while what was read before has been taken.
 * R2 A stream's bytes reach the sink exactly, up to the output limit; the byte past it ends the run.
 * R3 A run is over when the warden has said so and every pipe is at its end. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "runtime/language.h"
#include "spec/isolation.h"
#include "spec/run_options.h"
#include "spec/verdict.h"
#include "wire/wire.h"

enum run_stream { RUN_STDOUT, RUN_STDERR, RUN_STREAMS };

struct jar_request {
    uint64_t id; /* unique among the runs of this wire */
    const struct language *language;
    const char *const *command;      /* with placeholders; NULL: the language's own */
    char *const *sources;            /* what {sources} stands for; may be NULL */
    const char *const *language_env; /* K=V with placeholders; NULL: the language's own */
    const char *main_name;           /* of the main file inside /sandbox */
    char *const *args;
    char *const *env; /* K=V, after and over the built-in ones */
    char *const *outputs;
    struct limits limits;
    bool writable_root;
    const struct run_options *options; /* NULL: none */
    bool sampled;                      /* what it uses over time is wanted */
    unsigned kind; /* of an embryo that may run it, see runtime/language.h; 0: a cold start */
    int bundle_fd;
};

/* Takes bytes of a stream; how many it took (0: not now), or -1 to end the run. */
typedef ssize_t jar_run_sink(void *context, enum run_stream stream, const char *bytes, size_t n);

struct jar_run_pipe {
    int fd;
    uint64_t seen; /* bytes read, past the cap too */
    bool truncated;
    size_t held; /* bytes in `bytes` that the sink has not taken */
    size_t from;
    char bytes[16384];
};

struct jar_run {
    uint64_t id;
    int wire_fd;
    struct isolation isolation;
    struct limits limits;
    jar_run_sink *sink;
    void *sink_context;
    struct jar_run_pipe streams[RUN_STREAMS];
    int stdin_fd; /* ours to write; -1 when closed */
    int outputs_fd;
    struct buf outputs;      /* a bundle, see spec/bundle.h */
    struct samples *samples; /* once it has ended; NULL: none were asked for */
    bool started, ended;
    enum start start;
    enum end_reason asked;  /* what we asked the warden to end it for */
    bool unheard;           /* the sink did not want any more */
    uint64_t started_at_ms; /* wall clock, Unix time */
    struct wire_ended end;
};

/* Sends the job to the warden. On failure nothing is left of it. */
[[nodiscard]] int jar_run_start(struct jar_run *r, int wire_fd, const struct isolation *isolation,
                                const struct jar_request *request, jar_run_sink *sink,
                                void *context, struct err *e);
void jar_run_done(struct jar_run *r);

enum { JAR_RUN_POLLS = 4, JAR_RUN_OUTPUTS_MAX = 1000 };
/* Fills in what to wait for; a row that is not needed now has fd -1. */
void jar_run_polls(const struct jar_run *r, struct pollfd polls[JAR_RUN_POLLS]);
/* Does what poll() said can be done. -1 when the warden is lost. */
[[nodiscard]] int jar_run_ready(struct jar_run *r, const struct pollfd polls[JAR_RUN_POLLS],
                                struct err *e);
/* Offers held bytes to the sink again. */
[[nodiscard]] int jar_run_flush(struct jar_run *r, struct err *e);

/* A message that names this run. Whoever shares a wire among runs receives from it and hands each its own; a run that
 * has the wire to itself needs no help. */
[[nodiscard]] int jar_run_message(struct jar_run *r, const struct wire_message *m, struct err *e);

[[nodiscard]] int jar_run_cancel(struct jar_run *r, enum end_reason reason, struct err *e);
bool jar_run_over(const struct jar_run *r);
/* Once it is over: the warden's evidence and our own, decided on. */
enum verdict jar_run_verdict(struct jar_run *r);
