/* runtime/node/session.c — the parts of a JavaScript session that JavaScript cannot do: frames in
 * one piece, and interrupts. A module that guest/session.js loads; it runs in jars, as a guest.
 *
 * Theory of operation. SIGINT must end a cell wherever it is: in a loop, in a callback of a timer,
 * in a microtask after an `await`, or asleep in the event loop. The signal handler wakes a thread.
 * The thread asks V8 for an interruption and Node's event loop for a call of on_interrupt(). V8
 * interrupts JavaScript that runs now, and that ends it (TerminateExecution; nothing can catch it).
 * If no JavaScript runs, the event loop comes first and takes the request back, so that it cannot
 * hit our own code. SIGURG says that the cell is still to be interrupted (jar/cell.c): a SIGINT that
 * came before arm() had no effect.
 *
 * NODE-4 An interrupt ends JavaScript only while a cell is open (between arm() and disarm()).
 * NODE-5 A message is sent whole: no interruption falls between two of its frames. */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "runtime/node/node_api.h"

typedef struct napi_threadsafe_function_opaque *napi_threadsafe_function;
typedef void (*napi_threadsafe_function_call_js)(napi_env, napi_value, void *, void *);
int napi_get_buffer_info(napi_env, napi_value, void **data, size_t *length);
int napi_get_value_uint32(napi_env, napi_value, uint32_t *);
int napi_get_boolean(napi_env, bool, napi_value *);
int napi_get_undefined(napi_env, napi_value *);
int napi_call_function(napi_env, napi_value self, napi_value f, size_t, const napi_value *,
                       napi_value *);
int napi_get_and_clear_last_exception(napi_env, napi_value *);
int napi_throw(napi_env, napi_value);
int napi_throw_error(napi_env, const char *code, const char *message);
int napi_create_threadsafe_function(napi_env, napi_value f, napi_value resource, napi_value name,
                                    size_t queue_max, size_t threads, void *, void *, void *,
                                    napi_threadsafe_function_call_js, napi_threadsafe_function *);
int napi_call_threadsafe_function(napi_threadsafe_function, void *, int mode);
int napi_unref_threadsafe_function(napi_env, napi_threadsafe_function);

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env,
                                                                          napi_value exports);

enum { DATA_MAX = 32768, MORE = 1, AGAIN_US = 50000 };

static struct {
    void *isolate;
    void *(*current)(void);
    void (*request_interrupt)(void *isolate, void (*)(void *, void *), void *);
    void (*terminate)(void *isolate);
    void (*cancel)(void *isolate);
    bool (*is_terminating)(void *isolate);
    void (*run_microtasks)(void *isolate);
} v8;

static const struct {
    const char *name;
    void *at;
} symbols[] = {
    { "_ZN2v87Isolate10GetCurrentEv", &v8.current },
    { "_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_", &v8.request_interrupt },
    { "_ZN2v87Isolate18TerminateExecutionEv", &v8.terminate },
    { "_ZN2v87Isolate24CancelTerminateExecutionEv", &v8.cancel },
    { "_ZN2v87Isolate22IsExecutionTerminatingEv", &v8.is_terminating },
    { "_ZN2v815MicrotasksScope17PerformCheckpointEPNS_7IsolateE", &v8.run_microtasks },
};

static sem_t asked;                           /* the signal handler posts it */
static char marks[4096];                      /* a cell is a mark; far apart they repeat */
static _Atomic(char *) open_cell;             /* NULL between cells */
static _Atomic(char *) asked_cell;            /* the one that was open when the signal came */
static _Atomic(char *) wanted;                /* the cell to interrupt; NULL: none, or it is done */
static atomic_bool terminated;                /* JavaScript of the open cell was ended */
static napi_threadsafe_function on_interrupt; /* guest/session.js */

static bool is_open(const char *cell)
{
    return cell && cell == atomic_load(&open_cell);
}

/* ---- frames ---- */

struct header {
    uint32_t seq, request;
    uint16_t type, flags;
};

/* The channel does not block, because Node reads it. The host always reads. */
static bool send_frame(int fd, struct header *h, char *data, size_t n)
{
    struct iovec parts[] = { { h, sizeof *h }, { data, n } };
    struct msghdr m = { .msg_iov = parts, .msg_iovlen = ARRAY_LEN(parts) };
    for (;;) {
        if (sendmsg(fd, &m, MSG_NOSIGNAL) >= 0)
            return true;
        struct pollfd p = { .fd = fd, .events = POLLOUT };
        if (errno == EAGAIN)
            (void)poll(&p, 1, -1);
        else if (errno != EINTR)
            return false;
    }
}

/* send(fd, request, type, data) */
static napi_value send_message(napi_env env, napi_info info)
{
    static uint32_t seq;
    napi_value arg[4];
    size_t argc = 4, n = 0;
    uint32_t fd, request, type;
    void *data = NULL;
    if (napi_get_cb_info(env, info, &argc, arg, NULL, NULL) || argc != 4 ||
        napi_get_value_uint32(env, arg[0], &fd) || napi_get_value_uint32(env, arg[1], &request) ||
        napi_get_value_uint32(env, arg[2], &type) || napi_get_buffer_info(env, arg[3], &data, &n)) {
        (void)napi_throw_error(env, NULL, "a message is four arguments");
        return NULL;
    }
    for (size_t at = 0;;) {
        size_t part = n - at < DATA_MAX ? n - at : DATA_MAX;
        bool more = at + part < n;
        struct header h = { ++seq, request, (uint16_t)type, more ? MORE : 0 };
        if (!send_frame((int)fd, &h, (char *)data + at, part))
            _exit(1); /* the host is gone */
        at += part;
        if (!more)
            return NULL;
    }
}

/* ---- interrupts ---- */

/* In the main thread, inside JavaScript. */
static void end_javascript(void *isolate, void *cell)
{
    char *expected = cell;
    if (is_open(cell) && atomic_compare_exchange_strong(&wanted, &expected, NULL)) {
        atomic_store(&terminated, true);
        v8.terminate(isolate);
    }
}

/* In the main thread, from the event loop: no JavaScript runs. */
static void tell_javascript(napi_env env, napi_value f, void *unused, void *cell)
{
    (void)unused;
    napi_value self, result;
    char *expected = cell;
    (void)atomic_compare_exchange_strong(&wanted, &expected, NULL);
    if (env && f && is_open(cell) && napi_get_undefined(env, &self) == 0)
        (void)napi_call_function(env, self, f, 0, NULL, &result);
}

static void *interrupter(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&asked) < 0) {
        }
        char *cell = atomic_load(&asked_cell);
        if (!is_open(cell))
            continue;
        (void)napi_call_threadsafe_function(on_interrupt, cell, 0);
        /* Again if another piece of the cell began before the event loop came to the call. */
        for (; is_open(cell); (void)usleep(AGAIN_US)) {
            atomic_store(&wanted, cell);
            v8.request_interrupt(v8.isolate, end_javascript, cell);
            /* The programs that the cell waits for, as those of execSync(), after JavaScript. */
            (void)kill(0, SIGINT);
        }
    }
    return NULL;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    struct sigaction now;
    char *cell = atomic_load(&open_cell);
    bool ours = sig == SIGINT ||
                (sigaction(SIGINT, NULL, &now) == 0 && now.sa_sigaction == on_signal);
    if (cell && ours && info->si_pid != getpid()) {
        atomic_store(&asked_cell, cell); /* now: the thread may come to it in the next cell */
        (void)sem_post(&asked);
    }
    errno = saved;
}

/* Also for each cell, because a program may have set its own handler in the one before. */
static bool install_handlers(void)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
    return sigaction(SIGINT, &action, NULL) == 0 && sigaction(SIGURG, &action, NULL) == 0;
}

/* arm(): a cell begins. */
static napi_value arm(napi_env env, napi_info info)
{
    static size_t cell;
    (void)env;
    (void)info;
    (void)install_handlers();
    while (sem_trywait(&asked) == 0) {
    }
    atomic_store(&terminated, false);
    atomic_store(&open_cell, &marks[cell++ % sizeof marks]);
    return NULL;
}

/* disarm(): the cell is over. No interrupt has an effect from here on, also one that V8 has been
 * told of already. */
static napi_value disarm(napi_env env, napi_info info)
{
    (void)env;
    (void)info;
    atomic_store(&open_cell, NULL);
    if (atomic_exchange(&terminated, false))
        v8.cancel(v8.isolate);
    return NULL;
}

/* The rest of an interrupted cell: `for (;;) await 0` would keep the event loop from running. V8
 * empties the queue when the execution of a microtask is terminated. */
static void drop_microtasks(void)
{
    v8.terminate(v8.isolate);
    v8.run_microtasks(v8.isolate);
    v8.cancel(v8.isolate);
}

/* guard(f): calls f. Returns true if an interrupt ended it: the end goes no further. */
static napi_value guard(napi_env env, napi_info info)
{
    napi_value f, self, unused, error, result = NULL;
    size_t argc = 1;
    if (napi_get_cb_info(env, info, &argc, &f, NULL, NULL) || napi_get_undefined(env, &self))
        return NULL;
    int failed = napi_call_function(env, self, f, 0, NULL, &unused);
    bool ended = atomic_exchange(&terminated, false);
    if (ended || v8.is_terminating(v8.isolate))
        v8.cancel(v8.isolate);
    if (ended)
        drop_microtasks();
    if (failed && napi_get_and_clear_last_exception(env, &error) == 0 && !ended)
        (void)napi_throw(env, error);
    (void)napi_get_boolean(env, ended, &result);
    return result;
}

/* channel(): the descriptor of the channel. It is 3 after execve; in an embryo 3 belongs to Node, and
 * the driver has moved the channel. It leaves 3, which programs like to use. */
static napi_value find_channel(napi_env env, napi_info info)
{
    enum { LOOK_MAX = 256, AWAY = 64 };
    napi_value result = NULL;
    (void)info;
    for (int fd = 3; fd < LOOK_MAX; fd++) {
        int type = 0;
        socklen_t n = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_SEQPACKET)
            continue;
        int away = fcntl(fd, F_DUPFD_CLOEXEC, AWAY);
        if (away >= 0)
            close(fd);
        else
            (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        (void)napi_create_int32(env, away >= 0 ? away : fd, &result);
        return result;
    }
    (void)napi_throw_error(env, NULL, "descriptor 3 is not the channel of a session");
    return NULL;
}

/* begin(onInterrupt): starts the thread. After a fork, if there is one. */
static napi_value begin(napi_env env, napi_info info)
{
    napi_value f, name;
    size_t argc = 1;
    pthread_t thread;
    pthread_attr_t small;
    sigset_t all, before;
    v8.isolate = v8.current();
    (void)setsid();
    sigfillset(&all);
    if (napi_get_cb_info(env, info, &argc, &f, NULL, NULL) ||
        napi_create_string_utf8(env, "interrupt", SIZE_MAX, &name) ||
        napi_create_threadsafe_function(env, f, NULL, name, 0, 1, NULL, NULL, NULL, tell_javascript,
                                        &on_interrupt) ||
        napi_unref_threadsafe_function(env, on_interrupt) || sem_init(&asked, 0, 0) < 0 ||
        pthread_sigmask(SIG_SETMASK, &all, &before) || pthread_attr_init(&small) ||
        pthread_attr_setstacksize(&small, 64 << 10) ||
        pthread_create(&thread, &small, interrupter, NULL) ||
        pthread_sigmask(SIG_SETMASK, &before, NULL) || !install_handlers())
        (void)napi_throw_error(env, NULL, "interrupts do not work in this Node");
    return NULL;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
    static const struct {
        const char *name;
        napi_callback f;
    } functions[] = {
        { "begin", begin }, { "arm", arm },           { "disarm", disarm },
        { "guard", guard }, { "send", send_message }, { "channel", find_channel },
    };
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *symbol = dlsym(RTLD_DEFAULT, symbols[i].name);
        if (!symbol) {
            (void)napi_throw_error(env, NULL, symbols[i].name);
            return exports;
        }
        memcpy(symbols[i].at, &symbol, sizeof symbol);
    }
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        napi_value f;
        if (napi_create_function(env, functions[i].name, SIZE_MAX, functions[i].f, NULL, &f) ||
            napi_set_named_property(env, exports, functions[i].name, f))
            break;
    }
    return exports;
}
