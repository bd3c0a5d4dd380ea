/* session/session_impl.h — the parts of a session that the files of this room share.
 * Runs in: keeper. */
#pragma once

#include "session/cell_file.h"
#include "session/images.h"
#include "session/session.h"
#include "store/session_rows.h"

enum {
    CELLS_WAITING_MAX = 64,
    CELL_DISPLAYS_MAX = 256, /* and as many results and notes */
    CELL_DISPLAY_BYTES_MAX = 16 << 20,
    CELL_FRAMES_MAX = 50000,
    CELL_FRAME_BYTES_MAX = 256 << 20,
    STRAY_FRAMES_MAX = 10000, /* that belong to no cell, in a row */
    CELL_GRACE_MS = 5000,     /* after an interrupt, before the jar is killed */
    START_MS = 30000,
    QUESTION_MS = 5000, /* then the warden interrupts it, as a cell */
    QUESTION_LATE_MS = QUESTION_MS + CELL_GRACE_MS + 5000, /* the warden has not ended it */
    QUESTION_REQUESTS = 1 << 30,                           /* numbers that no cell has */
    CLOSED_MS = 5000, /* from the end of the channel to that of a program that lives on */
    EXPIRY_WARNING_MS = 60000,
    VISITS_MAX = 4,      /* of one session at a time */
    ALL_VISITS_MAX = 16, /* each has up to LIVE_ANSWER_MAX bytes in memory */
    VISIT_MS = 15000,    /* longer than a clerk lives */
    IMAGE_MS = 60000,    /* to write an image */
    INPUTS_REQUEST = QUESTION_REQUESTS - 1,
    IMAGE_MARGIN = 8 << 20,
};

struct sessions {
    uv_loop_t *loop;
    struct engine *engine;
    struct store *store;
    struct sessions_limits limits;
    struct session *first;
    unsigned alive; /* objects, ended ones too, and loads of templates: sessions_unuse() */
    uint64_t created, cells;
    unsigned visits;
    bool stopping, freed;
    const char *drain_reason; /* NULL: no drain */
    void (*on_drained)(void *context);
    void *drained_context;
    bool draining_now;
    unsigned falling; /* sessions that fall asleep at this moment */
    int dir_fd;       /* of the files of sessions */
    struct images *images;
    struct session_image *written; /* by sessions that live, or lived */
    struct template *templates;    /* in use */
    unsigned spares;               /* session/spares.h */
    uint64_t spares_taken;
    struct template_maker *maker;
    struct template_wait *template_waits;
    /* sleepers.c */
    bool are_known;                 /* sleeping ones of an earlier keeper are in the list */
    bool search_failed;             /* the last search for them */
    int64_t searched_to;            /* of a search that failed: it goes on there */
    struct sessions_search *search; /* NULL: none */
    struct sessions_wait *search_waits;
};

/* ---- program.c: the jar of a session and its channel ---- */

/* One jar. It outlives its place in the session until its handles are closed. */
struct session_program {
    struct engine_jar jar;
    struct session *session; /* NULL: detached */
    uv_loop_t *loop;
    uv_poll_t polls[3]; /* stdout, stderr, channel */
    /* Copies of their descriptors. A stream is closed where its end is read; the warden holds its
     * file for the next keeper, so the kernel would go on to report events of that number, which by
     * then belongs to a connection. A copy lives until its poll has stopped. */
    int poll_fds[3];
    bool polling[3], paused;
    uv_timer_t pace;
    unsigned open_handles;
    bool ready, over;
    bool leaving;                /* its end was asked for */
    struct session_image *image; /* that it becomes, or became; NULL: none */
    bool becoming;               /* it was sent the image */
    bool aside;       /* it is to take the place of the program of its session, once it is ready */
    bool armed;       /* the warden bounds a cell; it drops a keeper that arms a second one */
    bool catching_up; /* after an adoption: frames up to in_seq have been taken already */
    uint32_t in_seq, out_seq;
    uint64_t strays;
    struct frame_message message; /* while its frames arrive */
    struct buf out;               /* frames that the channel has not taken: u32 length, bytes */
    size_t out_from;
    struct wire_ended end; /* once it is over */
    char breach[160];      /* how its program broke the protocol */
    char note[256];        /* its own words about a start that fails */
    /* its network: see network.c */
    bool network_stale;      /* it is to be opened anew */
    bool network_exhausted;  /* a cap was met: the next cell begins with a new one */
    char network_error[160]; /* why it could not be opened; "": it could, or was not tried */
};

[[nodiscard]] int program_start(struct session *s, struct err *e);
/* A second program, beside the one of the session: it becomes the image. rollback_on_ready() or
 * rollback_on_program_end() follows. */
[[nodiscard]] int program_start_aside(struct session *s, struct session_image *image,
                                      struct session_program **ret, struct err *e);
/* The program that an earlier keeper left, from a `kept` message. It has no session yet:
 * program_attach() or program_detach() follows. */
[[nodiscard]] int program_adopt(struct sessions *all, struct wire_message *m,
                                struct session_program **ret, struct err *e);
/* in_seq: of the last frame that is known to be taken. armed: the warden bounds a cell. */
void program_attach(struct session_program *p, struct session *s, uint32_t in_seq, bool armed);
/* Sends a message to the program. */
[[nodiscard]] int program_send(struct session_program *p, uint16_t type, uint32_t request,
                               const struct buf *fields, struct err *e);
/* The same as one frame, with descriptors. */
[[nodiscard]] int program_send_fds(struct session_program *p, uint16_t type, uint32_t request,
                                   const struct buf *fields, const int *fds, size_t n_fds,
                                   struct err *e);
/* Asks the warden for the end of the jar. session_on_program_end() follows. */
void program_kill(struct session_program *p);
/* Reads everything that is in the pipes now. */
void program_drain(struct session_program *p);
/* The session has no further interest. */
void program_detach(struct session_program *p);
/* From now on the warden bounds the time of a cell, or of the answer to a question. */
[[nodiscard]] int program_arm(struct session_program *p, unsigned number,
                              const struct limits *limits, uint64_t wall_ms, struct err *e);
/* The cell is over: the warden measures it, and cells_on_measured() follows. */
[[nodiscard]] int program_disarm(struct session_program *p, struct err *e);
[[nodiscard]] int program_interrupt(struct session_program *p, struct err *e);

/* One operation on the files of the jar; the answer arrives on *ret_fd. */
[[nodiscard]] int program_files(struct session_program *p, enum live_file_operation operation,
                                const char *path, const struct buf *bytes, int *ret_fd,
                                struct err *e);

/* ---- capture.c ---- */

/* The file of an image: sealed memory, or a file on the disk that nobody writes. With it the earlier
 * images whose bytes it shares: a program that becomes it gets all of them. */
struct session_image {
    int fd;
    unsigned refs;
    unsigned leaving;          /* of these: programs whose end was asked for */
    uint64_t bytes;            /* of this file */
    char id[ID_SIZE];          /* of its row, once it has one */
    struct saved_image *saved; /* whose `open` it is; NULL: of none */
    struct session_image *bases[IMAGE_BASES];
    size_t n_bases;
    struct images *pins; /* that hold the rows of its bases for it; NULL: it is only in memory */
    struct image_room *room; /* of a file that was removed; NULL: none */
    /* The kernel counts a file in memory as memory of the jar that wrote it, as long as a copy has it. */
    struct session_image *next_written, **written_link; /* in `written` of all sessions */
    uint64_t writer;                                    /* the number of that jar */
    bool is_measured;                                   /* memory_bytes of its session has it */
};
/* memory_bytes of the session is new. */
void session_images_measured(struct session *s);
/* Its descriptor, and those of its bases. Returns their number. */
size_t session_image_fds(const struct session_image *image, int fds[1 + IMAGE_BASES]);
struct session_image *session_image_ref(struct session_image *image);

/* ---- room.c ---- */
/* Whether `count` more sessions of this spec may begin. */
[[nodiscard]] int sessions_check_room(const struct sessions *all, const struct session_spec *spec,
                                      unsigned count, struct err *e);

/* ---- session.c ---- */
/* A session without a row and a jar. Takes over the spec. */
[[nodiscard]] int session_make(struct sessions *all, struct session_spec *spec,
                               struct session **ret, struct err *e);
/* One of `alive` is gone. */
void sessions_unuse(struct sessions *all);
/* Its first program. */
void session_start(struct session *s);
/* From now on it is in no list. */
void session_unlink(struct session *s);
/* Ends the session that has this run as a cell. */
void session_end_of_run(struct run *run, const char *reason);
void session_set_state(struct session *s, enum session_state state);
void session_notify(struct session *s, enum session_event event);
void session_on_ready(struct session *s);
/* The program ends, or has closed its channel. */
void session_on_channel_closed(struct session *s);
void session_on_program_end(struct session *s, const struct wire_ended *end, const char *breach);
/* The last cell of the line is gone. In a drain, the session sleeps or ends now. */
void session_on_line_empty(struct session *s);
void session_schedule(struct session *s);               /* sets the timer */
uint64_t session_life_left_ms(const struct session *s); /* at least 1 */
/* It wakes: its life goes on. */
void session_set_age(struct session *s);
void session_end_sleep_time(struct session *s);
void session_on_measured(struct session *s, uint64_t memory_bytes);
void session_unref(struct session *s);
/* Nobody answers the question that was asked. */
void session_fail_question(struct session *s, const char *why);

/* ---- waits.c ---- */
/* Answers those of a sleep, or those of a wake. */
void session_answer_waits(struct session *s, bool for_sleep, json_t *not_carried,
                          const struct err *e);
void session_add_wait(struct session *s, struct session_wait *w,
                      bool for_sleep); /* w may be NULL */
/* The wait whose owner runs the cells again; NULL: none. */
struct session_wait *session_replay_wait(const struct session *s);

/* ---- sleep.c ---- */
/* Whether the cells that made its state are known. */
bool session_can_replay(const struct session *s);
/* The service stops. True: its image on the disk has its newest state, and it sleeps on without a
 * jar. */
bool session_sleep_stop(struct session *s, const char *reason);
/* Whether its sleep or wake takes care of the end of its program. */
bool session_sleep_on_program_end(struct session *s, const char *reason);
/* The program of a session that wakes is ready. */
void session_sleep_on_ready(struct session *s);
/* Its cells run again, or its program starts for that. A keeper that dies now leaves the image. */
bool session_replays(const struct session *s);
/* The facts that a next keeper needs to forget the replay. */
json_t *session_replay_json(const struct session *s);
/* The program of a session that wakes is late, or its channel is closed. */
void session_sleep_give_up(struct session *s, const char *reason);
/* The session ends, or begins anew without its image. */
void session_sleep_drop(struct session *s, const char *reason);
/* A cell waits for it. If it cannot wake, the cells are lost. */
void session_wake_for_cells(struct session *s);
/* The row of a sleeping session gets its spec as it is now. */
void session_sleep_save(struct session *s);
/* The row of a session that is awake names no image. */
void session_sleep_forget(struct session *s);

/* ---- network.c ---- */
/* Whether the cell has to wait for its network: cells_advance() follows. */
bool network_delays_cell(struct cell *c);
/* It has waited long enough. */
void network_on_late(struct session *s);
void network_begin_cell(struct cell *c);
/* Whether its end has to wait for the records of its connections: cells_on_measured() follows. */
bool network_delays_end(struct cell *c, const struct cell_usage *usage);
/* The warden or the porter told something, or the porter is gone, or a new one is there. */
void network_on_event(struct session_program *p);
void network_on_record(struct engine_jar *j, const struct porter_event *event);
/* The session has another program, or its program is ready. */
void network_take_over(struct session *s);
/* The same, for a program whose network has the list `had`. */
void network_adopt(struct session *s, const struct network_policy *had);
/* The list as a next keeper reads it; NULL: none. A new reference. */
json_t *network_spec_json(const struct network_policy *p);
[[nodiscard]] int network_spec_take(const json_t *o, struct network_policy *ret, struct err *e);

/* ---- drain.c ---- */
/* A drain goes on. */
void sessions_drain_step(struct sessions *all);

/* ---- sleepers.c ---- */
/* Sessions by their ids, at one moment. */
struct sessions_list {
    struct session **sorted; /* for free() */
    size_t n;
};
[[nodiscard]] int sessions_sort(const struct sessions *all, struct sessions_list *ret,
                                struct err *e);
struct session *sessions_list_find(const struct sessions_list *list, const char *id);
/* Removes files without a row: their writer was killed. Notes which rows have a file; false: not all
 * files could be seen. */
bool images_sweep(int dir_fd, struct saved_image *first);

/* ---- templates.c ---- */
/* The program of a run did not become its template: the run waits for another image. False: it has
 * begun, or there is no run. */
bool template_takes_back(struct session *s, const char *why);

/* ---- adopt.c: the parts of a session that outlive the keeper ---- */
/* Everything that a client asked for, without files. A new reference. */
json_t *session_spec_json(const struct session *s);
/* The same back, for the row of a session. Limits are bounded again. */
[[nodiscard]] int session_spec_take(const struct sessions *all, const json_t *o,
                                    const struct session_row *row, struct session_spec *ret,
                                    struct err *e);
/* Members of the session itself that are in the same object. */
void session_take_history(struct session *s, const json_t *o);
/* It falls asleep: its journal is removed, and the files that it began with stay on the disk. */
void session_put_away(struct session *s);
/* It wakes: the files that it began with. */
void session_take_out(struct session *s);
/* The files of a sleeping session outlive the machine. Runs in: a store thread. */
void session_sync_files(int dir_fd, const char *id);
/* The session is ready: a next keeper can find it. */
void session_keep(struct session *s);
/* Removes its files. */
void session_forget(struct session *s);
/* Removes the files of sessions that are not in the list. */
void sessions_sweep_files(const struct sessions *all, const struct sessions_list *list);

/* ---- transfer.c ---- */
/* The record of an import, with the row of the session: without it, no session begins. */
[[nodiscard]] int session_record_import(struct db *db, const struct session *s, struct err *e);

/* ---- checkpoints.c, rollback.c ---- */
/* Whether the cell has to wait for the checkpoint that is taken before it. Takes it, if there is to
 * be one: cells_advance() follows. */
bool checkpoint_delays_cell(struct cell *c);
/* The session is over: so are its checkpoints. */
void checkpoints_end(struct session *s);
/* Checkpoints of sessions that are over, at the start of a keeper. */
void checkpoints_sweep(const struct sessions *all, const struct sessions_list *list);
/* Later checkpoints share their bytes with this image, if it is on the disk. */
void checkpoints_set_base(struct session *s, struct session_image *image);
/* Its state has no past: the end of its jar is its own end. */
void checkpoints_forget_past(struct session *s);
/* Adds a rollback to the row of the session. */
void checkpoints_add_rollback(const struct session *s, const struct session_rollback_row *row);
/* The same for all its cells so far, and for a next keeper. to -1: it began anew. */
void checkpoints_note_rollback(struct session *s, int64_t to, enum rollback_kind kind);
/* The facts that a next keeper needs. */
json_t *checkpoints_json(const struct session *s);
/* Takes them. cell: the last one that began since; 0: none. */
void checkpoints_adopt(struct session *s, const json_t *facts, unsigned cell);
/* The program that was started aside is ready, or at its end. */
void rollback_on_ready(struct session *s);
void rollback_on_program_end(struct session *s, const struct wire_ended *end, const char *breach);
void rollback_on_late(struct session *s);
/* Ends the rollback that goes on, if any. */
void rollback_cancel(struct session *s, enum err_code code, const char *why);
/* Whether the session goes back to a checkpoint now that its jar is gone. */
bool rollback_recovers(struct session *s, const struct wire_ended *end, const char *why);

/* ---- run_inputs.c: a run from a template ---- */
/* Whether the cell has to wait for its files. Writes them: cells_advance() follows. */
bool run_inputs_delay_cell(struct cell *c);
/* Sends the lines that set arguments, environment and stdin, if there are any; otherwise the code. */
[[nodiscard]] int run_inputs_send(struct cell *c, struct err *e);
/* A display or a result, which a program of SQL prints as a table. */
void run_show_table(struct cell *c, const struct frame_message *m);
bool run_shows_tables(const struct language *l);
/* The program of a session became its image: files and environment of the session follow. Then
 * session_on_ready(), perhaps within this call, or the session ends. */
void session_inputs_begin(struct session *s);
[[nodiscard]] int session_inputs_on_frame(struct session *s, const struct session_frame *f,
                                          struct err *e);
/* A frame of these lines. -1: the cell cannot run. */
[[nodiscard]] int run_inputs_on_frame(struct cell *c, const struct session_frame *f, struct err *e);

/* ---- cells.c ---- */
[[nodiscard]] int cell_send_code(struct cell *c, struct err *e);
/* A sentence for the answer of the cell. */
void cell_note(struct cell *c, const char *text);
/* Goes on with a cell of an earlier keeper, whose journal is in s->file. is_armed: the warden bounds
 * it. The cell has its run. */
[[nodiscard]] int cells_resume(struct cell *c, const struct cell_file_head *head, int64_t queued_ms,
                               bool is_armed, struct err *e);
void cells_advance(struct session *s); /* begins the next cell, if it may */
/* The jar is gone. Cells that wait or run end. */
void cells_lose(struct session *s, const struct wire_ended *end, const char *why);
void cells_on_output(struct session *s, enum run_stream stream, const char *bytes, size_t n);
/* Output of the cell that runs, through its file. As cell_file_splice(). */
ssize_t cells_splice(struct session *s, enum run_stream stream, int pipe_fd,
                     char bytes[CELL_FILE_PIECE]);
/* A frame of the program that belongs to a request. -1: it breaks the protocol. */
[[nodiscard]] int cells_on_frame(struct session *s, const struct session_frame *f,
                                 const void *packet, size_t n, struct err *e);
/* The warden has measured the cell that it watched. */
void cells_on_measured(struct session *s, const struct cell_usage *usage);
void cells_on_queued(struct run_host *h, struct run *run);
void cells_on_cancel(struct run_host *h, struct run *run);
