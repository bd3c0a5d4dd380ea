#include "runtime/node/whereabouts.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "spec/job.h"

enum { FRAMES_MAX = 40, NAME_MAX_BYTES = 256, ALL_OPTIONS = 0x7f, NO_TERMINATOR = 2 };

/* As V8 returns it in registers. */
struct location {
    int line, column; /* from 0 */
};

/* In C a handle is a pointer. */
static struct v8 {
    void (*request_interrupt)(void *isolate, void (*)(void *, void *), void *);
    void *(*stack_trace)(void *isolate, int frames, int options);
    int (*frame_count)(const void *trace);
    void *(*frame)(const void *trace, void *isolate, uint32_t index);
    struct location (*location)(const void *frame);
    void *(*script_name)(const void *frame);
    void *(*function_name)(const void *frame);
    int (*write_utf8)(const void *string, void *isolate, char *to, int size, int *chars,
                      int options);
    void (*scope_enter)(void *scope, void *isolate);
    void (*scope_leave)(void *scope);
} v8;

static const struct {
    const char *name;
    size_t at;
} symbols[] = {
    { "_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_", offsetof(struct v8, request_interrupt) },
    { "_ZN2v810StackTrace17CurrentStackTraceEPNS_7IsolateEiNS0_17StackTraceOptionsE",
      offsetof(struct v8, stack_trace) },
    { "_ZNK2v810StackTrace13GetFrameCountEv", offsetof(struct v8, frame_count) },
    { "_ZNK2v810StackTrace8GetFrameEPNS_7IsolateEj", offsetof(struct v8, frame) },
    { "_ZNK2v810StackFrame11GetLocationEv", offsetof(struct v8, location) },
    { "_ZNK2v810StackFrame13GetScriptNameEv", offsetof(struct v8, script_name) },
    { "_ZNK2v810StackFrame15GetFunctionNameEv", offsetof(struct v8, function_name) },
    { "_ZNK2v86String9WriteUtf8EPNS_7IsolateEPciPii", offsetof(struct v8, write_utf8) },
    { "_ZN2v811HandleScopeC1EPNS_7IsolateE", offsetof(struct v8, scope_enter) },
    { "_ZN2v811HandleScopeD1Ev", offsetof(struct v8, scope_leave) },
};

static bool found; /* V8 has all of them */
static void *main_isolate;
static pid_t program;

static void copy_text(void *isolate, const void *string, const char *otherwise,
                      char out[NAME_MAX_BYTES])
{
    int n = string ? v8.write_utf8(string, isolate, out, NAME_MAX_BYTES - 1, NULL, NO_TERMINATOR)
                   : 0;
    out[n > 0 ? n : 0] = '\0';
    if (n <= 0)
        (void)snprintf(out, NAME_MAX_BYTES, "%s", otherwise);
}

/* One line for each frame, in the form that the diagnosis reads. */
static size_t write_frames(void *isolate, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "At\nStack (most recent call first):\n");
    const void *trace = v8.stack_trace(isolate, FRAMES_MAX, ALL_OPTIONS);
    int n = trace ? v8.frame_count(trace) : 0;
    for (int i = 0; i < n && used < size; i++) {
        char file[NAME_MAX_BYTES], function[NAME_MAX_BYTES];
        const void *frame = v8.frame(trace, isolate, (uint32_t)i);
        if (!frame)
            break;
        copy_text(isolate, v8.script_name(frame), "<anonymous>", file);
        copy_text(isolate, v8.function_name(frame), "<anonymous>", function);
        int more = snprintf(out + used, size - used, "  File \"%s\", line %d in %s\n", file,
                            v8.location(frame).line + 1, function);
        used += more > 0 ? (size_t)more : 0;
    }
    return used < size ? used : size - 1;
}

/* In the main thread, inside JavaScript. */
static void on_interruption(void *isolate, void *unused)
{
    static char text[FRAMES_MAX * 128];
    struct {
        _Alignas(16) char bytes[64]; /* v8::HandleScope, with room to spare */
    } scope;
    (void)unused;
    v8.scope_enter(&scope, isolate);
    size_t n = write_frames(isolate, text, sizeof text);
    v8.scope_leave(&scope);
    int fd = open("/sandbox/" WHEREABOUTS_FILE,
                  O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    if (lseek(fd, 0, SEEK_END) < WHEREABOUTS_MAX / 2)
        (void)!write(fd, text, n);
    (void)close(fd);
}

static void on_question(int number)
{
    (void)number;
    int before = errno;
    if (getpid() == program)
        v8.request_interrupt(main_isolate, on_interruption, NULL);
    errno = before;
}

void whereabouts_find(void)
{
    found = true;
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *symbol = dlsym(RTLD_DEFAULT, symbols[i].name);
        found = found && symbol;
        memcpy((char *)&v8 + symbols[i].at, &symbol, sizeof symbol);
    }
}

void whereabouts_begin(void *isolate)
{
    struct sigaction action = { .sa_handler = on_question, .sa_flags = SA_RESTART };
    sigset_t question;
    if (!found)
        return;
    main_isolate = isolate;
    program = getpid();
    (void)sigemptyset(&question);
    (void)sigaddset(&question, SIGURG);
    if (pthread_sigmask(SIG_BLOCK, &question, NULL) == 0)
        (void)sigaction(SIGURG, &action, NULL);
}
