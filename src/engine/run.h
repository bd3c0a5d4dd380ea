/* engine/run.h — one run of the service, from its acceptance to its record.
 * Runs in: keeper, on its libuv loop.
 *
 * The life of a run. Each step is one function of run.c unless another file is named.
 *
 *   state      step                     action, and the next event
 *   ---------  -----------------------  ------------------------------------------------------------
 *   (none)     engine_submit, engine.c  admission.c checks the limits; run_new() makes the object
 *   WAITING    run_new                  only if a person has to decide: until run_release(),
 *                                       run_reject() or run_cancel()
 *   QUEUED     run_new, run_release     its row is being written; it stands in the line of its key
 *              on_accepted              the row is written: RUN_EVENT_RECORDED, and it may begin
 *   RUNNING    run_begin                engine_start_runs() took it from the line (admission.c)
 *              run_stages.c             only if its language has stages before the program
 *              run_sequence.c           only if its caller defines stages: one after the other
 *              enter_jar                sends the job to the warden and opens the pipes
 *              run_on_wire_message      `started`: RUN_EVENT_STARTED
 *              on_readable              output goes to the journal: RUN_EVENT_OUTPUT
 *              run_on_wire_message      `ended`; the run is over once its pipes are at their end
 *              finish                   makes the result; a reader looks for its diagnosis
 *              run_find, run_record.c   its aftermath, if it has one; its record is being written
 *   FINISHED   on_finished_recorded     the record is written: RUN_EVENT_DONE
 *   (freed)    run_free_if_unused       no watch, no libuv handle and no store job is left
 *
 * finish() is the only way to the end. A cell of a session does not stand in a line of the engine and
 * enters no jar: its host calls run_begin_in_host() and run_end_in_host(). The host of a run from a
 * template does the same after its turn has come. A run without a jar gets there by finish_early(), a
 * run whose warden died by run_on_warden_lost(). Only a run whose row cannot be written, or that
 * waits for a decision when the service stops, ends without a record: run_abandon().
 *
 * The calls go one way: engine.c calls run.c, which calls run_stages.c, run_record.c and
 * admission.c. Two calls go up: engine_start_runs(), because a place is free or a run may go on,
 * and engine_check_idle(), because a run was freed.
 *
 * Invariants
 * RUN-1 A run begins after its acceptance is in the history and in the audit log.
 * RUN-2 Watches learn of the end of a run after its record is committed.
 * RUN-3 A run ends exactly once: RUN_EVENT_DONE is its last event. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/id.h"
#include "engine/examinations.h"
#include "engine/programs.h"
#include "network/policy.h"
#include "run/jar_run.h"
#include "run/journal.h"
#include "run/result.h"
#include "run/stages.h"
#include "store/digest.h"
#include "store/run_rows.h"

/* Everything that a caller asks for. It owns its members; run_spec_done() frees them. */
#define RUN_OUTPUT_TREE "./"

/* A stage that the caller defines. All of them share one jar. Their files are in the bundle of the run. */
struct caller_stage {
    char *name;
    const struct language *language; /* without a compiler */
    char *main_name;
    struct limits limits; /* disk and files are those of the run */
    int expect_exit;      /* with another exit status the run ends */
};
enum { CALLER_STAGES_MAX = 16 };

struct run_host;
struct run;
/* Work between the diagnosis of a run and its record: tries of its suggestions. The run has given up
 * its turn. begin() ends with a call of run_explained(), perhaps later. hurry() makes it soon: not
 * before it returns, because its caller may go through the list of all runs. */
struct run_aftermath {
    void (*begin)(struct run_aftermath *a, struct run *run);
    void (*hurry)(struct run_aftermath *a, struct run *run);
};
struct run_spec {
    const struct language *language;
    struct run_host *host;           /* the jar that it enters; NULL: jars of its own */
    char *template, *template_image; /* the name and the image that it begins in, or NULL */
    char *template_key;              /* that made the template; NULL: none */
    char *main_name;                 /* the name of the main file, which is in the bundle */
    struct buf bundle;               /* spec/bundle.h */
    struct buf stdin_bytes;          /* the first bytes of stdin */
    bool stdin_open; /* run_write_stdin() may add more; otherwise stdin ends there */
    /* NULL-terminated, or NULL. An output "." stands for every file in /sandbox, and
     * RUN_OUTPUT_TREE also for every directory without a file. */
    char **args, **env, **outputs;
    struct limits limits;
    bool writable_root;
    char **mounts;                 /* directories of the host: spec/mount.h; NULL: none */
    struct network_policy network; /* of the program; compilers have none */
    struct run_options options;
    struct run_aftermath *aftermath; /* borrowed; NULL: none */
    /* NULL: the run is one program. Otherwise language, main_name and code are those of the first. */
    struct caller_stage *stages;
    size_t n_stages;
    bool files_not_in_history; /* a watch keeps the output files */
    /* for the history and the queue */
    char *key;                       /* the API key whose turn it takes; NULL: no key */
    char *actor;                     /* for the audit log */
    char *requester;                 /* for rules: "key:NAME#ID", or as `actor` */
    char *thread, *artifact, *batch; /* ids, or NULL */
    char *surface;                   /* "v1", "nemo", "artifacts" */
    char *request;    /* canonical JSON, enough to make this spec again (api/runs/run_spec.h) */
    char *code;       /* the text of the main file; NULL if it is not text */
    json_t *metadata; /* of the caller, returned in the result; NULL: none */
    /* For the result: the part of the text that runs, and the source of its language. NULL: the
     * text runs as it was sent. */
    json_t *extraction;
    uint32_t key_max_runs; /* of the key; 0: the setting */
    bool may_approve;      /* the caller could decide on this run */
};
void run_spec_done(struct run_spec *s);
/* Of everything that a person is shown before a decision, and everything that runs: equal digests
 * mean the same program with the same input, files, limits and options. In hex. */
void run_spec_digest(const struct run_spec *s, char ret[DIGEST_HEX]);

enum run_event {
    RUN_EVENT_RECORDED, /* its row is in the history */
    RUN_EVENT_STARTED,  /* the program runs */
    RUN_EVENT_OUTPUT,   /* the journal has grown */
    RUN_EVENT_MEASURED, /* usage_now is that of now: run_measure() */
    /* It is over and recorded: result, result_json, journal and files are final. If record_err is
     * set, the history does not have it. */
    RUN_EVENT_DONE,
};

/* A text of up to this many bytes that several writes bring is in the last one and stdin_tail. */
enum { STDIN_TEXT_MAX = 64 << 10 };

/* A jar that is there before the run: that of a session, whose cells are runs. The host decides when
 * the run begins and how it ends: run_begin_in_host(), run_end_in_host(). */
struct run_host {
    /* It needs no decision any longer; with takes_turns: and it may begin. */
    void (*on_queued)(struct run_host *h, struct run *run);
    /* It has begun, or its turn has come, and it should end. */
    void (*on_cancel)(struct run_host *h, struct run *run);
    void (*on_freed)(struct run_host *h); /* one spec less has it; may be NULL */
    bool takes_turns; /* its runs stand in the line of their key, as runs with a jar do */
};
struct run_watch {
    void (*on_event)(struct run_watch *w, struct run *run, enum run_event event);
    struct run_watch *next; /* private */
};

/* A run lives until it is done and has no watch. */
struct run {
    /* Other rooms read these members. */
    char id[ID_SIZE];
    enum run_state state;
    struct run_spec spec;
    struct journal journal;
    struct buf files;      /* a bundle of outputs */
    struct result result;  /* once done */
    json_t *result_json;   /* once done: every field but stdout and stderr */
    struct err record_err; /* why the history does not have it; ERR_NONE: it does */
    struct engine *engine;
    int64_t queued_at_ms, started_at_ms, finished_at_ms; /* Unix time; 0: not yet */

    struct run_now {
        struct usage usage;          /* of the program until now */
        uint64_t memory_bytes, pids; /* of this moment; 0: not known */
    } usage_now;                     /* after RUN_EVENT_MEASURED */

    /* The rest belongs to the engine. */
    struct run *next_alive, *prev_alive;
    struct run_watch *watches;
    uint64_t spec_bytes; /* the size of the spec when it was accepted */
    /* admission.c */
    struct key_line *line;                   /* while it waits or runs */
    struct run *next_waiting;                /* in this line */
    uint64_t promised_memory, promised_pids; /* while it runs: counted in the queue */
    bool unbounded;                          /* does not count against the length of the queue */
    uint64_t queued_us, waited_us;
    /* of a run with a host, set before its end: fields of its result, and the text that explains
     * its failure in place of stderr */
    json_t *host_fields;
    struct buf failure_text;
    unsigned cell; /* the number that the program of its session gave it; 0: not known */
    /* Of a cell that failed: the values of its variables, by its own word (spec/job.h). */
    struct buf told;
    /* progress */
    bool awaits_decision, is_recorded, is_starting, has_jar, is_over, is_done;
    char error_text[sizeof((struct err *)0)->text];
    uint64_t begun_us, started_us; /* its turn came; the program started */
    /* reasons not to free it yet */
    unsigned notifying;    /* nested calls of on_event() */
    unsigned store_jobs;   /* in flight */
    unsigned open_handles; /* of libuv */
    /* the jar of the current stage */
    struct jar_run jar;
    unsigned slot; /* in engine->slots */
    unsigned kind; /* of an embryo that fits the program; 0: none */
    struct examination examination;
    void (*on_found)(struct run *run);
    void *aftermath;            /* the work of its aftermath, while it goes on; NULL: none */
    struct network_log network; /* once it is over */
    struct samples *samples;    /* once the program has ended, if they were requested */
    unsigned network_events;    /* in the journal */
    char *network_advice;       /* network/advice.h; NULL: no connection failed */
    char *network_list;         /* as a diagnosis has it; NULL: it has none */
    uv_poll_t polls[JAR_PIPES];
    bool polling[JAR_PIPES];
    /* stdout and stderr: output collects in the pipe until the next tick; the tick has come */
    bool paused[RUN_STREAMS], read_at_once[RUN_STREAMS];
    /* That the program has not read; it has read stdin_from bytes. Before its start: the bytes that
     * follow spec.stdin_bytes. */
    struct buf stdin_bytes;
    size_t stdin_from;
    bool stdin_eof;
    struct buf stdin_tail; /* the last bytes of stdin so far, if more can follow */
    /* run_stages.c */
    struct stages stages;
    size_t stage;
    struct program_request request; /* for the product of the current stage */
    enum program_answer answer;     /* to it */
    struct program *program;        /* the outcome of the last stage before the program, or NULL */
    bool program_cached;
    struct buf stage_output[RUN_STREAMS]; /* of the current stage */
    bool is_split; /* the files of the spec, if some of them are only for the program: */
    struct buf compiled_files, run_only_files;
    /* run_sequence.c */
    size_t caller_stage;       /* the current one */
    json_t *caller_results;    /* of the stages that are over */
    struct usage caller_usage; /* of the stages that are over */
    uint64_t jar_id;           /* of their jar */
    bool jar_rests;
    bool awaits_close; /* goes on once the handles of the last jar are closed */
    bool is_resumable; /* stands in engine->first_resumable */
    struct run *next_resumable;
};

void run_watch_add(struct run *run, struct run_watch *w);
/* Allowed inside on_event(). Afterwards the run may be freed. */
void run_watch_remove(struct run *run, struct run_watch *w);

/* A run that awaits a decision goes on, into the queue. If `edited` is not NULL, that spec runs; it
 * is taken over. */
void run_release(struct run *run, struct run_spec *edited);
/* A run that awaits a decision ends as `rejected`. The reason is its error. */
void run_reject(struct run *run, const char *reason);
/* At any time before its end. If it has ended, its aftermath ends soon. */
void run_cancel(struct run *run);
/* For its aftermath: the result is complete, and the record can be written. */
void run_explained(struct run *run);
/* Asks for its usage until now: RUN_EVENT_MEASURED follows, or its end. False: its program does not
 * run, or runs in the jar of a host. */
bool run_measure(struct run *run);
/* For its host. A run with a host begins after RUN_EVENT_RECORDED (RUN-1). */
void run_begin_in_host(struct run *run);
/* It began under an earlier keeper: at this Unix time, and this time of clock_us(). */
void run_resume_in_host(struct run *run, int64_t queued_ms, int64_t started_ms,
                        uint64_t started_us);
/* A connection of its program has begun or ended, or was refused: an event. */
void run_on_network(struct run *run, const struct network_record *r);
/* Adds to its journal; run_notify_output() tells its watches. time_us: since its start. */
[[nodiscard]] int run_add_output(struct run *run, enum journal_kind kind, uint64_t time_us,
                                 const void *bytes, size_t n, struct err *e);
void run_notify_output(struct run *run);
/* The verdict follows from the evidence of `end`. error: the reason of a failure of ours, or
 * NULL. */
void run_end_in_host(struct run *run, const struct wire_ended *end, const char *error);

/* Adds to its stdin. ERR_CONFLICT if stdin is closed or the run waits for a decision, ERR_BUSY if
 * the program has not read the bytes that came before. */
[[nodiscard]] int run_write_stdin(struct run *run, const void *bytes, size_t n, bool eof,
                                  struct err *e);
