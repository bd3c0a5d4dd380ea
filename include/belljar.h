/* belljar.h — runs untrusted code in sealed jars, from a C or C++ program:
 *
 *     cc program.c $(pkg-config --cflags --libs belljar)
 *
 * A handle is a connection to a Belljar service. belljar_open() without an address starts a
 * service for this handle alone, as child processes that have their own privileges. It ends with
 * the handle, and also when this process is killed. All other calls are the same for both.
 *
 * Failures. A function that can fail returns 0 or -1 (belljar_run_wait() also 1) and takes the
 * address of a pointer to an error as its last argument; NULL drops the error. On failure *error
 * is a new object, which belljar_error_free() frees; on success it is untouched. Results are
 * untouched on failure.
 *
 * A program that fails in its jar is a result, not an error: see belljar_result_verdict().
 *
 * Structs. Set all members to 0 and `size` to the size of the struct: later versions of the
 * library add members at the end and know by the size which ones a program has. A member that is
 * 0 or NULL has its default. A struct and everything it points to is read before the call
 * returns, and never kept.
 *
 * Threads. The library has no global state, starts no thread, and changes no signal handler.
 * - A handle (struct belljar) and a session may be used by any number of threads at a time.
 * - One run (struct belljar_run) is for one thread at a time, with two exceptions:
 *   belljar_run_cancel() and belljar_run_write_stdin() may be called by any thread at any time
 *   before belljar_run_free().
 * - Results, bytes and errors belong to the caller. Several threads may read one, except by
 *   belljar_result_json().
 * - A function that frees or closes an object is its last use. Freeing NULL does nothing;
 *   freeing an object twice is an error of the program, as with free().
 * - A callback runs in the thread that calls belljar_run_wait(). It may call every function except
 *   belljar_run_wait() and belljar_run_free() of the same run.
 * - After fork(), the child must not use objects of the parent. A private service ignores such
 *   copies: it ends with the process that opened it.
 *
 * A private service is a child process of the caller: a program that waits for any child
 * (waitpid(-1)) may get its pid, which does no harm.
 */
#ifndef BELLJAR_H
#define BELLJAR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, such as "0.1.0". */
const char *belljar_version(void);

/* ---- errors ---- */

struct belljar_error;

/* The numbers never change. */
enum belljar_error_code {
    BELLJAR_ERROR_BAD_REQUEST = 1, /* an argument that the library or the service does not accept */
    BELLJAR_ERROR_NOT_FOUND = 2,   /* no such run, session, file or route */
    BELLJAR_ERROR_GONE = 3,        /* the session has ended */
    BELLJAR_ERROR_TOO_LARGE = 4,   /* a request, a file or an answer */
    BELLJAR_ERROR_CONFLICT = 5,    /* not in this state */
    BELLJAR_ERROR_DENIED = 6,      /* the key may not do this, or a rule denies it */
    BELLJAR_ERROR_UNAUTHORIZED = 7, /* the key is missing or wrong */
    BELLJAR_ERROR_QUOTA = 8,        /* a limit of stored bytes */
    BELLJAR_ERROR_STORAGE = 9,      /* the disk of the service is full */
    BELLJAR_ERROR_BUSY = 10,        /* try again, see belljar_error_retry_after_s() */
    BELLJAR_ERROR_UNAVAILABLE = 11, /* no service answers, or it ended meanwhile */
    BELLJAR_ERROR_SYSTEM = 12,      /* a system call of this process or of the service failed */
    BELLJAR_ERROR_PROTOCOL = 13,    /* the other side is not a Belljar service */
    BELLJAR_ERROR_NO_MEMORY = 14
};

enum belljar_error_code belljar_error_code(const struct belljar_error *error);
/* A sentence for people, with the value and the accepted values. */
const char *belljar_error_message(const struct belljar_error *error);
/* The name of the field of the request, such as "limits.memory"; NULL if it is about none. */
const char *belljar_error_field(const struct belljar_error *error);
/* The time after which another try makes sense; 0 if the service does not say. */
unsigned belljar_error_retry_after_s(const struct belljar_error *error);
void belljar_error_free(struct belljar_error *error);

/* ---- bytes ---- */

struct belljar_bytes;

/* A zero byte follows the last one. */
const void *belljar_bytes_data(const struct belljar_bytes *bytes, size_t *ret_len);
void belljar_bytes_free(struct belljar_bytes *bytes);

/* ---- handles ---- */

struct belljar;

struct belljar_options {
    size_t size;
    /* The address of a service: the path of its unix socket, or "http://HOST:PORT". NULL: a
     * private service is started. */
    const char *service;
    const char *key; /* the API key; a unix socket of the same user needs none */
    /* A service that is silent for so long is unavailable; 0: 60000. This is not the time that a
     * run or a cell may take. */
    uint32_t patience_ms;

    /* For a private service: */
    const char *program; /* the path of the program belljar; NULL: the installed one */
    const char
        *state_dir; /* keeps history and sleeping sessions; NULL: a new one, removed at the end */
    const char *log_path;        /* its log is appended to this file; NULL: none */
    const char *const *settings; /* "KEY=VALUE" of `belljar serve --set`, the last one NULL */
};

/* Waits until the service answers. `options` may be NULL. */
int belljar_open(const struct belljar_options *options, struct belljar **ret,
                 struct belljar_error **error);
/* Ends a private service with its runs, and waits for its end. With a state_dir, its sessions
 * sleep. Runs and sessions of the handle that are not freed stay valid objects, and their calls
 * fail. */
void belljar_close(struct belljar *handle);
/* The address of the service, as in belljar_options.service. It lives as long as the handle. */
const char *belljar_address(const struct belljar *handle);

/* Any route of the service, such as "GET", "/v1/stats", NULL. `json` is the body. An answer that
 * is not 2xx is an error. */
int belljar_call(struct belljar *handle, const char *method, const char *path, const char *json,
                 struct belljar_bytes **ret, struct belljar_error **error);

/* ---- requests ---- */

struct belljar_file {
    const char *name; /* a path below /sandbox */
    const void *bytes;
    size_t len;
    int executable;
};

/* 0: the default of the service. */
struct belljar_limits {
    size_t size;
    uint64_t wall_ms, cpu_ms;
    uint64_t memory_bytes;
    uint64_t pids;
    uint64_t cpu_percent;
    uint64_t output_bytes; /* of stdout, and as many of stderr */
    uint64_t disk_bytes, files;
    uint64_t open_files;
    uint64_t memory_swap_bytes; /* beyond memory_bytes */
    uint64_t cpu_shares;        /* 1024: like every other program */
};

/* One program. docs/service.md explains the fields. */
struct belljar_request {
    size_t size;
    const char *language; /* NULL: inferred from the code */
    const char *code;     /* UTF-8; NULL: `entry` names one of the files */
    size_t code_len;      /* 0: up to the zero byte */
    const char *entry;
    const struct belljar_file *files;
    size_t n_files;
    const char *const *args; /* lists of strings end with NULL */
    const char *const *env;  /* "NAME=VALUE" */
    const void *stdin_bytes;
    size_t stdin_len;
    int stdin_open;             /* belljar_run_write_stdin() sends more */
    const char *const *outputs; /* names in /sandbox, or "/tmp/NAME", to keep for belljar_fetch() */
    const struct belljar_limits *limits;
    const char *template_name;      /* the state that the run begins in */
    const char *const *allow_hosts; /* the hosts that it may reach, such as "pypi.org:443" */
    /* A JSON object with further fields of POST /v1/runs, which replace those above. */
    const char *fields_json;
};

/* ---- results ---- */

struct belljar_result;

/* "ok", "runtime_error", "timeout", "memory_limit", …; see docs/cli.md. */
const char *belljar_result_verdict(const struct belljar_result *result);
/* 1 if the verdict is "ok". */
int belljar_result_ok(const struct belljar_result *result);
/* The status that `belljar run` would exit with: that of the program, 124 after a timeout, 130
 * after a cancellation, …. -1 if there is none. */
int belljar_result_exit_code(const struct belljar_result *result);
/* The name of the signal that ended the program, or NULL. */
const char *belljar_result_signal(const struct belljar_result *result);
/* All bytes of the stream, exactly. A zero byte follows the last one. */
const void *belljar_result_stdout(const struct belljar_result *result, size_t *ret_len);
const void *belljar_result_stderr(const struct belljar_result *result, size_t *ret_len);
const char *belljar_result_id(const struct belljar_result *result);
/* "warm", "hatched" or "cold"; NULL for a cell. */
const char *belljar_result_start(const struct belljar_result *result);

struct belljar_usage {
    size_t size;
    double wall_ms, cpu_ms;
    uint64_t memory_peak_bytes, pids_peak;
};
/* ret->size is set by the caller. */
void belljar_result_usage(const struct belljar_result *result, struct belljar_usage *ret);

/* The cause of a failure. A string is NULL, and a number 0, if it is not known. */
struct belljar_diagnosis {
    size_t size;
    const char *type;     /* such as "ZeroDivisionError" */
    const char *message;  /* of the error */
    const char *category; /* such as "value" */
    const char *file;
    int line, column;
    const char *hint; /* the first suggestion */
};
/* 1 if the run failed and the failure is explained. ret->size is set by the caller; the strings
 * live as long as the result. */
int belljar_result_diagnosis(const struct belljar_result *result, struct belljar_diagnosis *ret);

/* The outputs that the run left. */
size_t belljar_result_n_files(const struct belljar_result *result);
/* NULL if there is no such file. ret_len may be NULL. */
const char *belljar_result_file(const struct belljar_result *result, size_t index,
                                uint64_t *ret_len);
/* The bytes of one of them. */
int belljar_fetch(struct belljar *handle, const struct belljar_result *result, const char *name,
                  struct belljar_bytes **ret, struct belljar_error **error);

/* Of a cell: "ok", "error", "interrupted", "timeout" or "lost". NULL for a run. */
const char *belljar_result_status(const struct belljar_result *result);
/* Of a cell: its number from 1; 0 for a run. */
unsigned belljar_result_cell(const struct belljar_result *result);
/* Of a cell: the value of the last expression as this MIME type, such as "text/plain". Binary
 * types are base64. NULL if there is none. */
const char *belljar_result_value(const struct belljar_result *result, const char *mime_type);

/* Everything, as a JSON object with the fields of docs/service.md, without the two streams. */
const char *belljar_result_json(struct belljar_result *result);
void belljar_result_free(struct belljar_result *result);

/* ---- runs ---- */

struct belljar_run;

/* Runs a program to its end. */
int belljar_run(struct belljar *handle, const struct belljar_request *request,
                struct belljar_result **ret, struct belljar_error **error);

/* Returns as soon as the service has accepted the run. */
int belljar_run_start(struct belljar *handle, const struct belljar_request *request,
                      struct belljar_run **ret, struct belljar_error **error);
/* The id of the run in the history. It lives as long as the run. */
const char *belljar_run_id(const struct belljar_run *run);

enum { BELLJAR_STDOUT = 1, BELLJAR_STDERR = 2 };
/* Gets the output as it arrives, in order. If it returns anything but 0, the run is cancelled. */
typedef int (*belljar_output_fn)(void *user, int stream, const void *bytes, size_t len);
void belljar_run_on_output(struct belljar_run *run, belljar_output_fn callback, void *user);
/* Gets all other events: "started", "network", and of a cell "display", "result", "error",
 * "input_request", …. `json` is the event as an object. The same return value. */
typedef int (*belljar_event_fn)(void *user, const char *event, const char *json);
void belljar_run_on_event(struct belljar_run *run, belljar_event_fn callback, void *user);

/* Waits for the end, and calls the callbacks. 0: the run is over and *ret is its result, which
 * the first such call hands over. 1: timeout_ms have passed; -1 waits without a limit, 0 only
 * handles events that have arrived. -1: the connection to the service was lost. */
int belljar_run_wait(struct belljar_run *run, int timeout_ms, struct belljar_result **ret,
                     struct belljar_error **error);
/* For a program with a loop of its own: if this descriptor is readable, call belljar_run_wait()
 * with timeout 0. Call it once before the first poll. -1 after the end. */
int belljar_run_fd(const struct belljar_run *run);

/* Sends input, up to 1 MiB a call, and `eof` ends it. For a run with stdin_open, or a cell that
 * waits in input(). BELLJAR_ERROR_BUSY: the program has not read the input before it. */
int belljar_run_write_stdin(struct belljar_run *run, const void *bytes, size_t len, int eof,
                            struct belljar_error **error);
/* Ends the run, or interrupts the cell. Its result follows. A run that is over is no error. */
int belljar_run_cancel(struct belljar_run *run, struct belljar_error **error);
/* A run that is not over is cancelled. */
void belljar_run_free(struct belljar_run *run);

/* ---- sessions ---- */

struct belljar_session;

struct belljar_session_options {
    size_t size;
    const char *language; /* required, unless template_name is given */
    const char *name;
    const struct belljar_file *files;
    size_t n_files;
    const char *const *env;
    const struct belljar_limits *limits;      /* of the session as a whole */
    const struct belljar_limits *cell_limits; /* of each cell: wall_ms, cpu_ms, output_bytes */
    uint32_t idle_s;                          /* without a cell for so long, it ends */
    uint32_t ttl_s;
    uint32_t undo; /* up to 20 cells can be undone */
    const char *template_name;
    const char *const *allow_hosts;
    const char *fields_json; /* further fields of POST /v1/sessions */
};

int belljar_session_open(struct belljar *handle, const struct belljar_session_options *options,
                         struct belljar_session **ret, struct belljar_error **error);
/* A session that lives at the service, by its id. */
int belljar_session_attach(struct belljar *handle, const char *id, struct belljar_session **ret,
                           struct belljar_error **error);
const char *belljar_session_id(const struct belljar_session *session);

struct belljar_cell {
    size_t size;
    const char *code; /* UTF-8 */
    size_t code_len;  /* 0: up to the zero byte */
    uint64_t timeout_ms;
    const char *fields_json; /* further fields of POST /v1/sessions/{id}/exec */
};
/* Runs a cell to its end. */
int belljar_session_exec(struct belljar_session *session, const char *code,
                         struct belljar_result **ret, struct belljar_error **error);
/* The same as a run, with its callbacks. */
int belljar_session_start(struct belljar_session *session, const struct belljar_cell *cell,
                          struct belljar_run **ret, struct belljar_error **error);
/* Interrupts the cell that runs or is next in line, also that of another program. */
int belljar_session_interrupt(struct belljar_session *session, struct belljar_error **error);
/* Starts the program anew, without variables and files. */
int belljar_session_restart(struct belljar_session *session, struct belljar_error **error);
/* Copies the session with all its variables and files `count` times (1 to 100). ret has room for
 * so many; on failure it is untouched. */
int belljar_session_fork(struct belljar_session *session, unsigned count,
                         struct belljar_session **ret, struct belljar_error **error);
/* Goes back before the last so many cells; needs belljar_session_options.undo. */
int belljar_session_undo(struct belljar_session *session, unsigned cells,
                         struct belljar_error **error);
/* Keeps the present state under a name, and goes back to it. */
int belljar_session_checkpoint(struct belljar_session *session, const char *name,
                               struct belljar_error **error);
int belljar_session_rollback(struct belljar_session *session, const char *name,
                             struct belljar_error **error);
/* Writes and reads a file below /sandbox, up to 16 MiB. */
int belljar_session_put(struct belljar_session *session, const char *name, const void *bytes,
                        size_t len, struct belljar_error **error);
int belljar_session_get(struct belljar_session *session, const char *name,
                        struct belljar_bytes **ret, struct belljar_error **error);
/* Ends the session at the service and, also on failure, frees the object. */
int belljar_session_close(struct belljar_session *session, struct belljar_error **error);
/* Frees the object; the session goes on at the service. */
void belljar_session_free(struct belljar_session *session);

#ifdef __cplusplus
}
#endif

#endif
