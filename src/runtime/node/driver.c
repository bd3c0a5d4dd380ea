/* runtime/node/driver.c — Node, booted once and forked. Preloaded into the machine's own node; see
 * zygote/driver.h.
 *
 * Theory of operation. Node's own main() runs with the command line of most jobs: `node main.js` in
 * /sandbox. To make the file name absolute, Node calls getcwd(); our getcwd() runs driver.js there.
 * driver.js arranges that Node calls serve() when the boot is complete and before Node looks at the
 * program. serve() puts away everything that a fork loses or must not share (threads, descriptors,
 * the start time), and driver_serve() forks. An embryo makes all of it anew, the random generators
 * first, and Node continues as usual.
 *
 * NODE-1 Guest code finds nothing in JavaScript that differs from a start by execve.
 * NODE-2 A job that the embryo cannot run exactly is run by execve of the same command line:
 *        slower, and exact by definition.
 * NODE-3 No two embryos share a kernel object or the state of a random generator. */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/node/fds.h"
#include "runtime/node/fresh.h"
#include "runtime/node/instant.h"
#include "runtime/node/node_api.h"
#include "runtime/node/threads.h"
#include "runtime/node/warmup.h"
#include "runtime/node/whereabouts.h"
#include "runtime/plain/pages.h"
#include "runtime/plain/proc_environ.h"
#include "spec/pool.h"
#include "zygote/driver.h"

#define WORKING_DIR "/sandbox"

enum { CONTROL_FD = 3, CONTROL_AWAY = 200 };

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env,
                                                                          napi_value exports);

/* V8 functions for the gaps in Node's C interface. In C a handle is a pointer. */
static struct v8 {
    void *(*current)(void);
    bool (*in_context)(void *isolate);
    void *(*context)(void *isolate);
    void (*scope_enter)(void *scope, void *isolate);
    void (*scope_leave)(void *scope);
    void *(*new_string)(void *isolate, const char *, int type, int len);
    void *(*compile)(void *context, void *source, void *origin);
    void *(*run)(void *script, void *context);
    void (*set_flags)(const char *);
    void (*collect)(void *isolate);
} v8;

static const struct {
    const char *name;
    size_t at;
} v8_symbols[] = {
    { "_ZN2v87Isolate13TryGetCurrentEv", offsetof(struct v8, current) },
    { "_ZN2v87Isolate9InContextEv", offsetof(struct v8, in_context) },
    { "_ZN2v87Isolate17GetCurrentContextEv", offsetof(struct v8, context) },
    { "_ZN2v811HandleScopeC1EPNS_7IsolateE", offsetof(struct v8, scope_enter) },
    { "_ZN2v811HandleScopeD1Ev", offsetof(struct v8, scope_leave) },
    { "_ZN2v86String11NewFromUtf8EPNS_7IsolateEPKcNS_13NewStringTypeEi",
      offsetof(struct v8, new_string) },
    { "_ZN2v86Script7CompileENS_5LocalINS_7ContextEEENS1_INS_6StringEEEPNS_12ScriptOriginE",
      offsetof(struct v8, compile) },
    { "_ZN2v86Script3RunENS_5LocalINS_7ContextEEE", offsetof(struct v8, run) },
    { "_ZN2v82V818SetFlagsFromStringEPKc", offsetof(struct v8, set_flags) },
    { "_ZN2v87Isolate21LowMemoryNotificationEv", offsetof(struct v8, collect) },
};

/* The versions of V8 that passed every program of tests/data/exact. Another version may keep its
 * state elsewhere. */
static const char *const proven[] = { "10.2." /* Node 18 */, "11.3." /* Node 20 */ };

/* v8::HandleScope, with room to spare. */
struct scope {
    _Alignas(16) char bytes[64];
};

static const char script_text[] =
#include "base/array.h"
#include "runtime/node/driver.js.inc"
    ;

/* The interpreter's options: the arguments before the main file. A job with other options goes to
 * execve (NODE-2). */
static struct {
    char **argv;
    int n; /* index of the main file */
} options;

static bool booting; /* from driver_main until driver_serve returns in an embryo */
static bool hooked;
static pid_t zygote;

static _Noreturn void fail(const char *why)
{
    (void)dup3(CONTROL_AWAY, CONTROL_FD, O_CLOEXEC);
    booting = false;
    driver_fail(why);
}

/* ---- libc functions that Node calls while it boots ---- */

/* V8 marks its memory MADV_DONTFORK. Embryos need that memory, so the mark is dropped. */
__attribute__((visibility("default"))) int madvise(void *addr, size_t len, int advice)
{
    if (booting && advice == MADV_DONTFORK)
        return 0;
    return (int)syscall(SYS_madvise, addr, len, advice);
}

static void run_script(void *isolate)
{
    struct scope scope;
    v8.set_flags("--memory-reducer"); /* the default again, see driver_main() */
    v8.scope_enter(&scope, isolate);
    void *context = v8.context(isolate);
    void *source = v8.new_string(isolate, script_text, 0, (int)sizeof script_text - 1);
    void *script = source ? v8.compile(context, source, NULL) : NULL;
    if (!script || !v8.run(script, context))
        fail("the driver's script does not run in this Node");
    v8.scope_leave(&scope);
}

/* Node caches the answer. Every job would get the same one. */
__attribute__((visibility("default"))) char *getcwd(char *buf, size_t size)
{
    if (booting && size >= sizeof WORKING_DIR) {
        void *isolate = v8.current ? v8.current() : NULL;
        if (!hooked && isolate && v8.in_context(isolate)) {
            hooked = true;
            run_script(isolate);
        }
        buf = buf ? buf : malloc(size);
        return buf ? memcpy(buf, WORKING_DIR, sizeof WORKING_DIR) : NULL;
    }
    static char *(*real)(char *, size_t);
    if (!real)
        real = (char *(*)(char *, size_t))dlsym(RTLD_NEXT, "getcwd");
    return real(buf, size);
}

/* ---- an embryo ---- */

static int probe_pipe = -1; /* in a page probe */

/* Forks the page probe (plain/pages.h). Returns true in the child. The child has only the main
 * thread, and an alarm bounds its life: if it hangs, the zygote knows no pages. */
static bool fork_page_probe(void)
{
    enum { PATIENCE_S = 5 };
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    /* In a child libuv closes the descriptor numbers that it had before fds_put_away(). */
    int to = fcntl(ends[1], F_DUPFD_CLOEXEC, CONTROL_AWAY);
    close(ends[1]);
    pid_t pid = to < 0 ? -1 : fork();
    if (pid == 0) {
        (void)signal(SIGALRM, SIG_DFL);
        (void)alarm(PATIENCE_S);
        probe_pipe = to;
        return true;
    }
    close(to);
    if (pid > 0) {
        pages_receive(ends[0]);
        (void)waitpid(pid, NULL, 0);
    }
    close(ends[0]);
    return false;
}

static napi_value probe_done(napi_env env, napi_info info)
{
    (void)env;
    (void)info;
    pages_report(probe_pipe);
}

static void embryo(void)
{
    pages_touch();
    if (!fresh_seed())
        _exit(1);
}

static bool fits(const struct driver_job *job)
{
    char cwd[sizeof WORKING_DIR + 1];
    int file = options.n;
    for (int i = 1; i < file; i++)
        if (i >= job->argc || strcmp(job->argv[i], options.argv[i]) != 0)
            return false;
    return job->argc > file && job->argv[file][0] != '-' && job->argv[file][0] != '\0' &&
           syscall(SYS_getcwd, cwd, sizeof cwd) > 0 && strcmp(cwd, WORKING_DIR) == 0;
}

/* A session interrupts its cells by the same signal. */
static bool is_session(void)
{
    for (int i = 1; i < options.n; i++)
        if (strstr(options.argv[i], "session"))
            return true;
    return false;
}

static napi_value job_to_js(napi_env env, const struct driver_job *job)
{
    napi_value list, item;
    int wrong = napi_create_array(env, &list);
    uint32_t n = 0;
    for (int i = 0; i < job->argc && !wrong; i = i == 0 ? options.n : i + 1)
        wrong = napi_create_string_utf8(env, job->argv[i], SIZE_MAX, &item) ||
                napi_set_element(env, list, n++, item);
    wrong = wrong || napi_create_int32(env, (int32_t)getpid(), &item) ||
            napi_set_element(env, list, n, item);
    return wrong ? NULL : list;
}

/* Collects the garbage of the boot once. Otherwise each embryo would do it and copy every page that
 * it touches. Compiled code stays, although it has not been used since. */
static void tidy(void)
{
    v8.set_flags("--no-flush-bytecode");
    v8.collect(v8.current());
    (void)malloc_trim(0); /* each page freed here is one less to free in every embryo */
    /* restored: V8 hashes its flags, and programs can read the hash */
    v8.set_flags("--flush-bytecode");
}

/* Called from JavaScript in the zygote. Returns in an embryo: argv without the options and,
 * last, the process id. With an argument it also forks the page probe; in the probe it returns
 * nothing. */
static napi_value serve(napi_env env, napi_info info)
{
    static const struct driver_hooks hooks = { .embryo = embryo };
    struct driver_job job;
    void *loop = NULL;
    napi_value pages_program;
    size_t argc = 1;
    bool with_probe = napi_get_cb_info(env, info, &argc, &pages_program, NULL, NULL) == 0 &&
                      argc == 1;
    tidy();
    const char *wrong = instant_find();
    wrong = wrong ? wrong : threads_park();
    wrong = wrong ? wrong : fds_put_away(CONTROL_AWAY);
    if (wrong || dup3(CONTROL_AWAY, CONTROL_FD, O_CLOEXEC) < 0)
        fail(wrong ? wrong : "the control socket cannot be put back");
    close(CONTROL_AWAY);
    if (with_probe && fork_page_probe())
        return NULL;
    driver_serve(&hooks, &job);
    booting = false;
    wrong = fits(&job) ? NULL : "";
    wrong = wrong ? wrong : fds_renew();
    wrong = wrong ? wrong : threads_revive();
    napi_value result = NULL;
    if (!wrong && napi_get_uv_event_loop(env, &loop) == 0) {
        uv_update_time(loop);
        instant_set();
        if (!is_session())
            whereabouts_begin(v8.current());
        result = job_to_js(env, &job);
    }
    if (!result) { /* NODE-2 */
        execve(job.argv[0], job.argv, job.envp);
        _exit(127);
    }
    return result;
}

/* fail(why), from JavaScript. */
static napi_value give_up(napi_env env, napi_info info)
{
    size_t argc = 1;
    napi_value arg;
    char why[128] = "the warm-up failed";
    if (napi_get_cb_info(env, info, &argc, &arg, NULL, NULL) == 0 && argc == 1)
        (void)napi_get_value_string_utf8(env, arg, why, sizeof why, NULL);
    fail(why);
}

napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
    napi_value f;
    if (napi_create_function(env, "fail", SIZE_MAX, give_up, NULL, &f) ||
        napi_set_named_property(env, exports, "fail", f) ||
        napi_create_function(env, "serve", SIZE_MAX, serve, NULL, &f) ||
        napi_set_named_property(env, exports, "serve", f) ||
        napi_create_function(env, "probeDone", SIZE_MAX, probe_done, NULL, &f) ||
        napi_set_named_property(env, exports, "probeDone", f) || warmup_export(env, exports))
        fail("this Node refuses the driver's functions");
    return exports;
}

/* ---- the start of the zygote ---- */

static void not_served(void)
{
    if (booting && getpid() == zygote)
        fail("Node ended before it reached the program");
}

static void check_version(void)
{
    char why[128];
    const char *(*version)(void);
    void *symbol = dlsym(RTLD_DEFAULT, "_ZN2v82V810GetVersionEv");
    memcpy(&version, &symbol, sizeof version);
    const char *v = symbol ? version() : "unknown";
    for (size_t i = 0; i < ARRAY_LEN(proven); i++)
        if (strncmp(v, proven[i], strlen(proven[i])) == 0)
            return;
    (void)snprintf(why, sizeof why, "warm starts are for Node 18 and 20; the V8 of this one is %s",
                   v);
    driver_fail(why);
}

/* Node moves its arguments, so this copies them. The last one is the main file. */
static void keep_options(int argc, char **argv)
{
    options.n = argc - 1;
    options.argv = calloc((size_t)argc, sizeof *options.argv);
    for (int i = 0; options.argv && i < argc; i++)
        if (!(options.argv[i] = strdup(argv[i])))
            driver_fail("no memory for the command line");
    if (!options.argv || argc < 2)
        driver_fail("there is no command line");
}

static _Noreturn void fail_without(const char *symbol)
{
    char why[192];
    (void)snprintf(why, sizeof why, "this Node does not have %s", symbol);
    driver_fail(why);
}

int driver_main(int argc, char **argv, char **envp, int (*real_main)(int, char **, char **))
{
    check_version();
    for (size_t i = 0; i < ARRAY_LEN(v8_symbols); i++) {
        void *symbol = dlsym(RTLD_DEFAULT, v8_symbols[i].name);
        if (!symbol)
            fail_without(v8_symbols[i].name);
        memcpy((char *)&v8 + v8_symbols[i].at, &symbol, sizeof symbol);
    }
    const char *missing = fresh_find();
    if (missing)
        fail_without(missing);
#define CHECK_SYMBOL(name) \
    if (!(name))           \
        fail_without(#name);
    NODE_API_SYMBOLS(CHECK_SYMBOL)
    whereabouts_find();
    keep_options(argc, argv);
    /* Node's own descriptors get the same numbers as in a cold start. */
    if (dup3(CONTROL_FD, CONTROL_AWAY, O_CLOEXEC) < 0 || close(CONTROL_FD) < 0)
        driver_fail("the control socket cannot be put aside");
    /* V8 reads this flag when it makes a heap. With the memory reducer, a second collection some
     * seconds later would be the first thing that every embryo does. */
    v8.set_flags("--no-memory-reducer");
    booting = true;
    zygote = getpid();
    proc_environ_hide_boot();
    atexit(not_served);
    int status = real_main(argc, argv, envp);
    not_served();
    return status;
}
