#include "runtime/node/warmup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "runtime/node/memory.h"

enum { UV_RUN_NOWAIT = 2, CANDIDATES_MAX = 1 << 16 };

#define FILE_NAME "/belljar/node_modules/warmup.js"

static const char text[] =
#include "runtime/node/warmup.js.inc"
    ;

static bool warming_up;

static int open_warmup_module(void)
{
    int fd = memfd_create("warmup", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, text, sizeof text - 1) < 0 || lseek(fd, 0, SEEK_SET) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* At the first stream of a loop libuv opens /dev/null, as a spare descriptor for when none are
 * left. Here that open fails, which libuv accepts. The embryo then opens it and gets the number of
 * a cold start. */
static int open_at(const char *path, int flags, mode_t mode)
{
    if (warming_up && (strcmp(path, "/dev/null") == 0 || strcmp(path, "/") == 0)) {
        errno = EMFILE;
        return -1;
    }
    if (warming_up && strcmp(path, FILE_NAME) == 0)
        return open_warmup_module();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* Both names in libc: the way a program was compiled decides which of them `open` means. */
#define DEFINE_OPEN(name, libc_name)                                                  \
    int name(const char *path, int flags, ...) __asm__(libc_name);                    \
    __attribute__((visibility("default"))) int name(const char *path, int flags, ...) \
    {                                                                                 \
        va_list args;                                                                 \
        va_start(args, flags);                                                        \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;     \
        va_end(args);                                                                 \
        return open_at(path, flags | O_LARGEFILE, mode);                              \
    }
DEFINE_OPEN(open_either, "open")
DEFINE_OPEN(open_large, "open64")

/* A distribution's hardened build calls these instead when it creates no file. */
#define DEFINE_CHECKED_OPEN(name, libc_name)                                     \
    int name(const char *path, int flags) __asm__(libc_name);                    \
    __attribute__((visibility("default"))) int name(const char *path, int flags) \
    {                                                                            \
        return open_at(path, flags | O_LARGEFILE, 0);                            \
    }
DEFINE_CHECKED_OPEN(checked_open, "__open_2")
DEFINE_CHECKED_OPEN(checked_open_large, "__open64_2")

/* ---- the count of asynchronous operations ---- */

/* Node keeps the count as a double at an unknown place. Each time the count is known to have grown,
 * fewer places still match. */
static struct counter {
    uint64_t bits;
    uint64_t *places[2][CANDIDATES_MAX]; /* the previous and the current candidates, by address */
    size_t n[2];
    bool begun;
} * counter;

static int by_address(const void *a, const void *b)
{
    uint64_t *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

static bool note(uint64_t *word, void *context)
{
    struct counter *c = context;
    if (*word != c->bits || word == &c->bits ||
        (c->begun && !bsearch(&word, c->places[0], c->n[0], sizeof word, by_address)))
        return true;
    if (c->n[1] == CANDIDATES_MAX)
        return false;
    c->places[1][c->n[1]++] = word;
    return true;
}

static bool number(napi_env env, napi_info info, uint64_t *ret_bits)
{
    size_t argc = 1;
    napi_value arg;
    double value;
    if (napi_get_cb_info(env, info, &argc, &arg, NULL, NULL) || argc != 1 ||
        napi_get_value_double(env, arg, &value))
        return false;
    memcpy(ret_bits, &value, sizeof value);
    return true;
}

/* countIs(n), from JavaScript: returns the number of places that may hold the count. */
static napi_value count_is(napi_env env, napi_info info)
{
    napi_value result;
    if (!counter && !(counter = calloc(1, sizeof *counter)))
        return NULL;
    counter->n[1] = 0;
    if (!number(env, info, &counter->bits) || !memory_walk(note, counter))
        return NULL;
    memcpy(counter->places[0], counter->places[1], counter->n[1] * sizeof counter->places[0][0]);
    counter->n[0] = counter->n[1];
    counter->begun = true;
    return napi_create_int32(env, (int32_t)counter->n[0], &result) ? NULL : result;
}

/* Sets the count back. */
static napi_value set_count(napi_env env, napi_info info)
{
    uint64_t bits;
    if (counter && counter->n[0] == 1 && number(env, info, &bits))
        *counter->places[0][0] = bits;
    free(counter);
    counter = NULL;
    return NULL;
}

/* ---- a stream ---- */

/* Returns the two ends of a pipe and starts the warm-up. */
static napi_value open_pipe(napi_env env, napi_info info)
{
    napi_value list, end;
    int ends[2];
    (void)info;
    warming_up = true;
    if (pipe2(ends, O_CLOEXEC) < 0 || napi_create_array(env, &list))
        return NULL;
    for (uint32_t i = 0; i < 2; i++)
        if (napi_create_int32(env, ends[i], &end) || napi_set_element(env, list, i, end))
            return NULL;
    return list;
}

/* Runs the event loop until it has no work left. */
static napi_value turn(napi_env env, napi_info info)
{
    void *loop;
    (void)info;
    if (napi_get_uv_event_loop(env, &loop) == 0)
        (void)uv_run(loop, UV_RUN_NOWAIT);
    return NULL;
}

static napi_value over(napi_env env, napi_info info)
{
    (void)env;
    (void)info;
    warming_up = false;
    return NULL;
}

int warmup_export(napi_env env, napi_value exports)
{
    static const struct {
        const char *name;
        napi_callback call;
    } functions[] = {
        { "countIs", count_is }, { "setCount", set_count }, { "openPipe", open_pipe },
        { "turn", turn },        { "over", over },
    };
    int wrong = 0;
    for (size_t i = 0; i < ARRAY_LEN(functions) && !wrong; i++) {
        napi_value f;
        wrong = napi_create_function(env, functions[i].name, SIZE_MAX, functions[i].call, NULL,
                                     &f) ||
                napi_set_named_property(env, exports, functions[i].name, f);
    }
    return wrong;
}
