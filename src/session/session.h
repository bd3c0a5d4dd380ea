/* session/session.h — sessions: a jar whose program stays and runs one cell after another.
 * Runs in: keeper, on its libuv loop.
 *
 *   state      event that leads to it
 *   ---------  ---------------------------------------------------------------------------------
 *   starting   session_new(), session_restart(): a jar is requested
 *   idle       the program says that it is ready; a cell is over and no other waits
 *   busy       the first cell of the line begins, or a question is asked
 *   sleeping   session_sleep(), idle_s, or the stop of the service: it has an image, and no jar
 *   ended      session_end(), an expiry, or the end of the jar; the row of the session says why
 *
 * A cell is a run with a host (engine/run.h). It stands in the line of its session from its
 * acceptance to its end.
 *
 * Invariants
 * SESSION-1 Cells run one at a time, in the order of their acceptance. A cell that waits for an
 *           approval holds up the cells behind it.
 * SESSION-2 Frames of the program are a guest's word. The verdict of a cell follows from the
 *           evidence of the warden; the program decides only between ok and an error of its own.
 * SESSION-3 Every bound holds in the keeper: bytes of a message, of displays and of output, and the
 *           number of frames. A program that breaks the protocol ends its session and nothing else.
 * SESSION-4 A session that is not ended has at most one jar. If the jar ends, the variables are
 *           lost, and the cell that ran says so.
 * SESSION-5 A session that was ready once outlives the keeper, and so does the cell that runs.
 * SESSION-6 A sleeping session is a row and a file. The row names the image before the jar ends, and
 *           no longer names it before the next cell begins: at every moment, the newest state is in
 *           the jar or in the image. */
#pragma once

#include <jansson.h>
#include <uv.h>

#include "base/id.h"
#include "engine/engine.h"
#include "session/cell_file.h"
#include "session/checkpoints.h"
#include "session/frame.h"
#include "session/images.h"
#include "spec/bundle.h"
#include "spec/live_file.h"
#include "store/store.h"

enum session_state {
    SESSION_STARTING,
    SESSION_IDLE,
    SESSION_BUSY,
    SESSION_SLEEPING,
    SESSION_ENDED
};
const char *session_state_word(enum session_state s);
extern const char *const session_state_words[];

/* Everything that a client asks for. It owns its members. */
struct session_spec {
    const struct language *language;
    char *name;                /* NULL: none */
    char *key, *actor;         /* as in struct run_spec */
    char *client_id;           /* the id that a client of /execute gave it; NULL: none */
    struct limits limits;      /* of its life; the wall time is its longest life */
    struct limits cell_limits; /* of a cell: wall time, CPU time and output */
    uint64_t idle_ms;
    bool idle_sleeps; /* after idle_ms it sleeps; otherwise it ends */
    bool is_copy;     /* its first program became the image of another session */
    struct buf bundle;
    char **env;
    json_t *metadata;
    struct session_image *image;   /* its program becomes it at the first start; NULL: none */
    bool sets_inputs;              /* files and environment are set after that; cleared then */
    const char *template;          /* of a session for one run; borrowed from that run */
    struct network_policy network; /* the hosts that its jar reaches */
    char **mounts;                 /* that its jar shows: spec/mount.h; NULL: none */
    unsigned undo;                 /* so many states before its last cells are kept; 0: none */
    /* The session that it is a copy of, its last cell then, and its checkpoint; NULL: none */
    char *parent, *parent_image;
    unsigned parent_cell;
    /* The template that its state began in, as its client named it, and the owner of that name
     * (session/templates.h); NULL: none. A replay begins there again. */
    char *begins_in, *begins_owner;
    bool has_unknown_past; /* its state began in a file: no cell made it */
    char *imported;        /* detail of its record, if its image came as a file; NULL: it did not */
};
void session_spec_done(struct session_spec *s);

struct sessions;
struct session;

enum session_event {
    SESSION_EVENT_STATE,    /* its state is another one */
    SESSION_EVENT_EXPIRING, /* it ends soon: session_expires_ms() */
    SESSION_EVENT_NETWORK, /* its network is as its spec says, or cannot be: network_is_settled() */
    SESSION_EVENT_MEASURED, /* memory_bytes is that of now: session_measure() */
    SESSION_EVENT_REPLAYED, /* it could not wake, and its cells ran again: `replayed` */
    SESSION_EVENT_ENDED,    /* its last event */
};
struct session_watch {
    void (*on_event)(struct session_watch *w, struct session *s, enum session_event event);
    struct session_watch *next; /* private */
};

/* A cell of the line. */
struct cell {
    struct run_watch watch;
    struct session *session;
    struct run *run;
    struct cell *next;
    unsigned number;
    uint64_t wall_ms; /* its time limit */
    bool silent, queued, begun;
    char *options; /* JSON for the program: its context and environment; NULL: none */
    enum { UNDO_NOT_TAKEN, UNDO_BEING_TAKEN, UNDO_TAKEN } undo; /* the checkpoint before it */
    enum { INPUTS_NOT_WRITTEN, INPUTS_BEING_WRITTEN, INPUTS_WRITTEN } inputs; /* of one run */
    bool sets_inputs; /* the lines before its code run */
    bool reads_stdin; /* the stdin of its run answers the program, and nobody else does */
    size_t stdin_from;
    bool awaits_input, disarmed, has_error;
    bool truncated[RUN_STREAMS];
    uint64_t stream_bytes[RUN_STREAMS];
    uint64_t frames, frame_bytes;
    struct {
        uint64_t messages, bytes;
    } kept[3]; /* by kind of frame: displays; results and notes; the rest */
    bool displays_cut;
    char status[16]; /* the word of the program, once it is done */
    bool exits;      /* of a run from a template: it ended itself, with exit_code */
    int exit_code;
    json_t *notes;
    /* Its end waits for the records of its connections: usage is that of the end. */
    bool awaits_network, network_told;
    struct cell_usage usage;
    uint64_t started_us;  /* clock_us() */
    uint64_t replayed_us; /* of the record that is replayed, since its start */
};

/* A question to the program between two cells: completion, inspection, variables. */
struct session_question {
    /* json NULL: *e says why there is no answer. The answer is a guest's word. */
    void (*on_answer)(struct session_question *q, json_t *json, const struct err *e);
    const int *fds; /* descriptors to send along; the question is then one frame */
    size_t n_fds;
    bool is_of_branches; /* it may be asked of a branch */
    uint32_t request;    /* private, as the rest */
    json_t *answer;
    struct session_question *next;
};

/* A wait for the end of a sleep or of a wake. */
enum sleep_compression { SLEEP_AS_SET, SLEEP_COMPRESSED, SLEEP_UNCOMPRESSED };
struct session_wait {
    /* e NULL: the session sleeps, or is awake. The owner may free the wait now. */
    void (*on_done)(struct session_wait *w, struct session *s, const struct err *e);
    /* Of a wake; NULL: no replay. The image cannot be woken, and *why says why. A new program is
     * ready, and runs the cells of this owner alone, until session_replayed() or
     * session_replay_fail(). on_done() follows. */
    void (*on_replay)(struct session_wait *w, struct session *s, const struct err *why);
    json_t *not_carried;       /* of a sleep: a guest's words; the owner frees it */
    struct session_wait *next; /* private, as the rest */
    bool for_sleep;
    enum sleep_compression compression; /* of a sleep; the owner sets it */
};

struct session_program;
struct session_sleep;
struct session {
    /* Other rooms read these members. */
    char id[ID_SIZE];
    struct session_spec spec;
    enum session_state state;
    int64_t created_ms, used_ms, ended_ms; /* Unix time */
    char reason[240];                      /* why it ended */
    unsigned cells;                        /* accepted so far */
    unsigned at_cell;                      /* the last one whose effects its state has; 0: none */
    unsigned restarts;
    uint64_t memory_bytes; /* of its jar, when the last cell ended or later; 0: not known */
    /* Of these: images that the jar wrote, and that somebody had; the number of that jar */
    uint64_t image_memory_bytes, measured_jar;
    struct cell *first, *last; /* the line; the first one may have begun */
    struct sessions *all;
    char image[ID_SIZE];     /* that it sleeps in; "": none */
    int64_t asleep_since_ms; /* Unix time; 0: it is awake */
    char sleep_error[240];   /* why it could not sleep or wake the last time; "": it could */
    unsigned first_cell;     /* cells before this number ran in an earlier program */
    json_t *replayed;        /* the report of its last replay; NULL: none */
    /* The rest belongs to this room. */
    uint64_t asleep_ms;          /* all its sleeps so far */
    struct session_sleep *sleep; /* while it falls asleep or wakes */
    struct session_wait *waits;
    bool used;      /* since it began to fall asleep */
    bool has_files; /* of a sleeping one: files that it began with are on the disk */
    struct session *next;
    struct run_host host;
    struct session_watch *watches;
    struct session_program *program; /* NULL: it has no jar */
    struct session_question *question;
    struct cell_file file; /* the journal of the cell that runs */
    uv_timer_t timer;
    /* of the loop; 0: none */
    uint64_t start_by_ms, question_by_ms, close_by_ms, rollback_by_ms, network_by_ms;
    struct session_checkpoints checkpoints;
    bool warned, restarting, is_stored, stopping;
    bool for_one_run;                  /* it has no row and is in no list */
    bool is_unfit;                     /* its program could not become the image of its spec */
    bool held;                         /* its branches run: no cell and no question begins */
    struct session_branches *branches; /* while it is held; NULL: none */
    bool is_branch;                    /* a copy that lives as long as the request for it */
    char program_from[ID_SIZE];        /* the copy whose program it has; "": its own */
    char adopted_by[ID_SIZE];          /* the session that goes on with its program; "": none */
    bool replaying;                    /* the journal of an earlier keeper */
    uint64_t used_loop_ms, created_loop_ms; /* clock of the loop */
    unsigned visits;                        /* to its files, at this moment */
    unsigned refs;                          /* cells, store jobs, watches, handles, visits */
};

struct sessions_limits {
    unsigned max, max_per_key;
    uint64_t memory_floor; /* no new session with less memory available */
    uint64_t sleep_max_ms; /* a session that sleeps for longer ends */
    uint64_t template_ms;  /* a run waits no longer for the image of its template */
    struct limits cell_max;
    char *const *mount_roots; /* of the warden, borrowed; NULL: none */
    bool mount_secrets;       /* a mount may show files that look like secrets */
};
/* Takes over dir_fd, where sessions have their files. The images live longer than the sessions. */
[[nodiscard]] int sessions_open(struct sessions **ret, uv_loop_t *loop, struct engine *engine,
                                struct store *store, int dir_fd, struct images *images,
                                const struct sessions_limits *limits, struct err *e);
/* Takes over the sessions with a jar of an earlier keeper that is dead, before the loop runs: waits for
 * the warden and the store. JSON arrays with the ids of these sessions, and of the runs that go on. If
 * there are any, this includes the search for sleeping ones. */
[[nodiscard]] int sessions_adopt(struct sessions *all, json_t **ret_sessions, json_t **ret_runs,
                                 struct err *e);
/* Searches for the sessions that sleep since an earlier keeper, and for all images. Until the end of the
 * search there is no other session, and no template. Files of sessions that are over are removed. */
[[nodiscard]] int sessions_search(struct sessions *all, struct err *e);
bool sessions_are_known(const struct sessions *all);     /* the search is over */
bool sessions_search_failed(const struct sessions *all); /* the last one did; the next may not */
struct sessions_wait {
    /* e NULL: they are known. The owner may free the wait now. */
    void (*on_done)(struct sessions_wait *w, const struct err *e);
    struct sessions_wait *next; /* private */
};
/* While they are not known. Begins another search, if the first one failed. on_done() follows. */
[[nodiscard]] int sessions_await(struct sessions *all, struct sessions_wait *w, struct err *e);
struct images *sessions_images(const struct sessions *all);
void sessions_set_limits(struct sessions *all, const struct sessions_limits *limits);
/* Ends every session. One that sleeps, or wakes, sleeps on. on_idle() of the engine follows once their cells are over. */
void sessions_stop(struct sessions *all, const char *reason);
/* Every session sleeps after the last cell of its line, or ends if it cannot. Then on_done(), perhaps
 * within this call. The reason is kept. */
void sessions_drain(struct sessions *all, const char *reason, void (*on_done)(void *context),
                    void *context);
void sessions_free(struct sessions *all);
/* Those with a jar; key NULL: of all keys. */
unsigned sessions_count(const struct sessions *all, const char *key);
struct sessions_counts {
    unsigned of_state[SESSION_ENDED];
    uint64_t created, cells; /* since the start of the service */
    uint64_t memory_bytes;   /* of the living ones, each when it was last measured */
    unsigned spares;         /* programs of templates that wait for a run */
    uint64_t spares_taken;
};
struct sessions_counts sessions_counts(const struct sessions *all);
/* The first one that is not ended; then `next`. */
struct session *sessions_first(struct sessions *all);
/* By its id. NULL: there is none, or it ended. */
struct session *session_find(struct sessions *all, const char *id);

/* Takes over the spec, also on failure. The watch hears of its state: starting, then idle or ended.
 * ERR_BUSY if there are too many sessions, or memory is short. */
[[nodiscard]] int session_new(struct sessions *all, struct session_spec *spec,
                              struct session_watch *w, struct session **ret, struct err *e);
void session_watch_add(struct session *s, struct session_watch *w);
void session_watch_remove(struct session *s, struct session_watch *w);
/* The clients' reason for its end. Cells that wait or run end. */
void session_end(struct session *s, const char *reason);
/* A new jar: variables, files and processes are gone. Cells that wait or run end. */
void session_restart(struct session *s);
void session_set_idle(struct session *s, uint64_t idle_ms);
/* Another list, from now on. Takes it over. If it is narrower, connections that it does not have are
 * reset; otherwise all are. SESSION_EVENT_NETWORK follows, unless network_is_settled() now. */
void session_set_network(struct session *s, struct network_policy *policy);
bool network_is_settled(const struct session *s);
/* Its spec has changed: a next keeper learns of it. */
void session_save(struct session *s);
/* It counts as used now. */
void session_touch(struct session *s);
/* Unix time of its expiry, and the reason. */
int64_t session_expires_ms(const struct session *s, const char **ret_why);
/* Whether SESSION_EVENT_EXPIRING came, and it was not used since. */
bool session_expires_soon(const struct session *s);

/* The image of the session goes to the disk, and its jar ends. on_done() of the wait follows; w may
 * be NULL. If it is used before its image is on the disk, it stays awake. ERR_CONFLICT while a cell
 * runs or waits. */
[[nodiscard]] int session_sleep(struct session *s, bool strict, struct session_wait *w,
                                struct err *e);
/* Its program becomes its image in a new jar, and the image is removed. on_done() of the wait
 * follows; w may be NULL. If it fails, the session sleeps on. It is sleeping, or falls asleep. */
[[nodiscard]] int session_wake(struct session *s, struct session_wait *w, struct err *e);
/* All cells of a replay have run. Takes over the report. */
void session_replayed(struct session *s, json_t *report);
/* The replay cannot go on: the session sleeps on. */
void session_replay_fail(struct session *s, const char *reason);
/* True: a request must wait for session_wake() first. */
bool session_must_wake(const struct session *s);
/* The owner of the wait does not wait any longer. */
void session_wait_drop(struct session *s, struct session_wait *w);

/* Before a cell is submitted. ERR_GONE if the session ended, ERR_CONFLICT if the current cell waits for stdin, ERR_BUSY if too many
 * cells wait. */
[[nodiscard]] int session_check_room(const struct session *s, struct err *e);
/* Adds a cell to the line. The run has this session as its host and is not submitted yet; the watch
 * of the cell goes with it. cell_drop() if the submission fails. */
[[nodiscard]] int cell_new(struct session *s, bool silent, struct cell **ret, struct err *e);
void cell_drop(struct cell *c);
/* The run of the cell was submitted. */
void cell_set_run(struct cell *c, struct run *run);
/* The cell that runs, or NULL. */
struct cell *session_current(const struct session *s);
/* The cell of the line with this number, or NULL. */
struct cell *session_cell(const struct session *s, unsigned number);

/* Answers the program's request for input. ERR_CONFLICT if it does not ask. */
[[nodiscard]] int session_input(struct session *s, const char *text, size_t n, bool eof,
                                struct err *e);
/* Asks the warden for the memory of the jar. True: SESSION_EVENT_MEASURED follows, unless the jar ends
 * first, by the end of the session or a restart. */
bool session_measure(struct session *s);
/* Interrupts the cell, or with number 0 the one that runs or is next in line, or the question. A cell
 * that has not begun does not run. ERR_CONFLICT if there is nothing to interrupt, or the cell is
 * over. */
[[nodiscard]] int session_interrupt(struct session *s, unsigned number, struct err *e);
/* Takes the fields of the message. ERR_CONFLICT while a cell runs. on_answer() follows. */
[[nodiscard]] int session_ask(struct session *s, struct session_question *q, uint16_t type,
                              const struct buf *fields, struct err *e);
/* Nobody waits for the answer any longer. */
void session_question_drop(struct session *s, struct session_question *q);

/* A capture: the program of the session writes an image of itself into a file without a name. The
 * keeper seals the file and never reads it. */
struct session_capture {
    /* e NULL: `image` is sealed, and the owner has its reference. Otherwise there is no image. The
     * owner may free the capture now. */
    void (*on_done)(struct session_capture *c, const struct err *e);
    bool strict; /* refuse if a thing cannot be carried */
    /* An earlier image of the session: the new one has only the bytes that differ, and keeps a
     * reference. If it is not on the disk, an image that is to be saved stands alone, as with NULL. */
    struct session_image *base;
    bool in_memory; /* the image is not saved: its bases need not be on the disk */
    struct session_image *image;
    json_t *not_carried; /* a guest's words, or NULL; the owner frees it */
    uint64_t pause_us;
    uint64_t write_us; /* as the writer says */
    struct session_capturing *private;
};
/* ERR_CONFLICT while a cell runs. on_done() follows. */
[[nodiscard]] int session_capture(struct session *s, struct session_capture *c, struct err *e);

/* Gives back the image of a capture; NULL: there is none. */
void session_image_unref(struct session_image *image);

/* A fork: copies of a session with all its variables, each in a jar of its own. */
enum { FORKS_MAX = 100 };
struct session_fork {
    /* e NULL: all copies are idle; copies for branches start. Otherwise there is no copy. The owner may
     * free the fork now. */
    void (*on_done)(struct session_fork *f, const struct err *e);
    unsigned count;
    char **names;           /* of the first copies, or NULL; they belong to the owner */
    bool strict;            /* refuse if a thing cannot be carried */
    bool is_for_branches;   /* the copies are as in struct session_branches */
    struct checkpoint from; /* the copies have this state; id "": the present one */
    const struct network_policy *network; /* of the copies; NULL: that of the session */
    struct session *copies[FORKS_MAX];
    json_t *not_carried; /* a guest's words; the owner frees it */
    uint64_t pause_us, write_us, image_bytes;
    struct session_forking *private;
};
/* ERR_CONFLICT while a cell runs, ERR_BUSY if there are too many sessions. on_done() follows. */
[[nodiscard]] int session_fork(struct session *s, struct session_fork *f, struct err *e);

/* Branches: copies of a session that run code side by side. One of them can take its place: then the
 * session goes on with the program and the files of the copy.
 *
 * From the beginning to session_branches_done() the original runs no cell, answers no question, and
 * nobody writes its files. The numbers of cells in a copy follow those of the original, and a copy
 * lives no longer than the original would. A copy ends with its keeper. */
enum { BRANCHES_MAX = 16 };
struct session_branches {
    struct session_fork fork; /* first; the owner sets count, names and strict */
    /* e NULL: the copies start; each takes a cell, which waits for the start. Otherwise there are none,
     * and the owner may free this now. */
    void (*on_forked)(struct session_branches *b, const struct err *e);
    /* The program of a copy became the image. */
    void (*on_ready)(struct session_branches *b, unsigned i);
    /* The original ended or was restarted: session_branch_adopt() fails from now on. */
    void (*on_lost)(struct session_branches *b, const struct err *e);
    /* The answer to session_branch_check(). */
    void (*on_checked)(struct session_branches *b, unsigned i, bool lives);
    /* A copy was adopted, and the history has it. */
    void (*on_adopted)(struct session_branches *b);
    struct session *original;
    struct session_watch watch; /* private, as the rest */
    struct session_branch {
        struct session_watch watch;
        struct session_question question;
        struct session_branches *branches;
        bool ready;
    } copies[BRANCHES_MAX];
    unsigned restarts; /* of the original, at the beginning */
    bool forked, lost;
};
/* ERR_CONFLICT if branches of the session run. */
[[nodiscard]] int session_check_held(const struct session *s, struct err *e);
/* ERR_CONFLICT if the session is a branch, which runs nothing but its candidate. */
[[nodiscard]] int session_check_branch(const struct session *s, struct err *e);
/* ERR_CONFLICT while a cell runs or waits, ERR_BUSY if there is no room for all copies. on_forked()
 * follows. */
[[nodiscard]] int session_branches_begin(struct session *s, struct session_branches *b,
                                         struct err *e);
/* A cell can end well and its program with it, as after exit(). Asks whether the copy, which is idle,
 * goes on. True: on_checked() follows. False: it does not. */
bool session_branch_check(struct session_branches *b, unsigned i);
/* The original goes on with the program of this copy, which is idle. The jar of the original and the
 * copy end. on_adopted() follows. */
[[nodiscard]] int session_branch_adopt(struct session_branches *b, unsigned i, struct err *e);
/* Ends a copy. */
void session_branch_end(struct session_branches *b, unsigned i, const char *reason);
/* The copy becomes a session like any other. */
void session_branch_leave(struct session_branches *b, unsigned i);
/* Every copy was ended, left or adopted. The original runs cells again. */
void session_branches_done(struct session_branches *b);

/* A session as a file: the image of one that sleeps, or of one that is awake and goes on. */
struct session_export {
    /* e NULL: fd is there, and the owner closes it. The owner may free the export now. */
    void (*on_done)(struct session_export *x, struct session *s, const struct err *e);
    const char *actor; /* for the record, which is written before on_done() */
    int fd;
    uint64_t bytes;
    uint8_t digest[DIGEST_BYTES];
};
/* ERR_CONFLICT while a cell runs. on_done() follows. */
[[nodiscard]] int session_export(struct session *s, struct session_export *x, struct err *e);

/* As images_receive(). */
[[nodiscard]] int sessions_receive(struct sessions *all, const char *key, uint64_t bytes,
                                   struct image_room **ret, int *ret_fd, struct err *e);
struct session_import {
    /* e NULL: `session` starts, and the watch hears of it. Otherwise there is none. */
    void (*on_done)(struct session_import *i, const struct err *e);
    struct session_spec spec; /* taken over */
    struct session_watch *watch;
    uint8_t digest[DIGEST_BYTES]; /* that the image must have */
    bool compressed;              /* the bytes in the file are */
    uint64_t bytes;               /* of the image */
    struct session *session;
};
/* `stored` bytes of the file, from `from` on, are the image. Takes over the file and the spec, also on
 * failure. on_done() follows. */
[[nodiscard]] int session_import(struct sessions *all, struct session_import *i, int fd,
                                 uint64_t from, uint64_t stored, struct err *e);

/* One visit to the files in /sandbox, also while a cell runs. */
struct session_visit {
    /* e NULL: there is an answer. The owner may free the visit now. */
    void (*on_done)(struct session_visit *v, const struct err *e);
    struct buf answer;            /* spec/live_file.h: a guest's word; the owner frees it */
    struct live_file_record last; /* of the answer */
    struct session *session;      /* private, as the rest */
    uv_poll_t poll;
    uv_timer_t timer;
    int fd;
    unsigned open_handles;
    struct err err;
    char path[BUNDLE_NAME_MAX + 1];
};
/* The path was checked by bundle_name_check(), or is "" for a list of all files. `bytes`: of a write.
 * ERR_CONFLICT while the session starts, ERR_BUSY with too many visits. on_done() follows. */
[[nodiscard]] int session_visit(struct session *s, struct session_visit *v,
                                enum live_file_operation operation, const char *path,
                                const struct buf *bytes, struct err *e);
