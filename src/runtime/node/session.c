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
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/array.h"
#include "image/bounds.h"
#include "runtime/node/channel.h"
#include "runtime/node/image.h"

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env,
                                                                          napi_value exports);

enum { AGAIN_US = 50000 };

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
    image_bounds_begin();
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
        { "begin", begin },
        { "arm", arm },
        { "disarm", disarm },
        { "guard", guard },
        { "channel", channel_find },
        { "send", channel_send },
        { "listen", channel_listen },
        { "pid", node_image_pid },
        { "writeImage", node_image_write },
        { "becomeImage", node_image_become },
        { "renewContexts", node_image_renew_contexts },
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
