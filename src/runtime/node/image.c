#include "runtime/node/image.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "image/bounds.h"
#include "image/descriptors.h"
#include "image/files.h"
#include "image/image.h"
#include "runtime/node/channel.h"
#include "runtime/node/fresh.h"
#include "runtime/node/threads.h"

enum { LOSSES_MAX = 100, WRITERS_MAX = 16 };

static struct losses {
    struct image_losses base; /* the first member */
    char text[64 << 10];
    size_t n, count;
} losses;

static pid_t writers[WRITERS_MAX];
static size_t n_writers;
static void *main_isolate;
static void *(*current_isolate)(void);

struct request {
    int file, report;
    struct image_bases bases;
    uint64_t room;
    bool files, strict;
    /* answer */
    const char *outcome;
    uint64_t pause_us, files_bytes;
    char why[IMAGE_WHY];
};

static void add_loss(struct image_losses *base, const char *name)
{
    struct losses *l = (struct losses *)base;
    size_t n = strlen(name) + 1;
    if (l->count == LOSSES_MAX || n > sizeof l->text - l->n)
        return;
    memcpy(l->text + l->n, name, n);
    l->n += n;
    l->count++;
}

/* Writers of earlier images may still be at work. */
static void reap_writers(void)
{
    size_t n = 0;
    for (size_t i = 0; i < n_writers; i++)
        if (!image_reap(writers[i]))
            writers[n++] = writers[i];
    n_writers = n;
}

/* In each thread. One with a heap of its own is a worker of the program: its random generators cannot
 * be made anew from here, so it is not carried. */
static int is_worker(void)
{
    void *isolate = current_isolate();
    return isolate && isolate != main_isolate;
}

static const char *prepare(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "_ZN2v87Isolate13TryGetCurrentEv");
    if (!symbol || fresh_find())
        return "this version of Node has no images";
    memcpy(&current_isolate, &symbol, sizeof symbol);
    main_isolate = current_isolate();
    return NULL;
}

/* ---- writing ---- */

/* In the process that became the image. No lock of a library is taken before the threads are back. */
static void go_on(struct image_descriptors *d, uint64_t cookie)
{
    image_descriptors_restore(d, (int)(cookie >> 32));
    image_bounds_restore();
    if (threads_revive() || !fresh_seed())
        _exit(1);
    n_writers = 0;
    channel_went_on((uint32_t)cookie);
}

/* While all other threads are stopped: nothing here uses the allocator. */
static int write_held(struct request *r, struct image_descriptors *d, unsigned n_workers,
                      struct image_written *ret)
{
    int ours[2 + IMAGE_BASES_MAX] = { r->file, r->report };
    uint64_t end = IMAGE_FRONT;
    char text[64];
    memcpy(ours + 2, r->bases.fds, r->bases.n * sizeof ours[0]);
    if (image_descriptors_take(d, channel_roles(), true, ours, 2 + r->bases.n, &losses.base,
                               r->why))
        return -1;
    image_bounds_take(&losses.base);
    for (unsigned i = 0; i < n_workers; i++) {
        (void)snprintf(text, sizeof text, "a worker thread (%u of %u)", i + 1, n_workers);
        add_loss(&losses.base, text);
    }
    image_children(writers, n_writers, &losses.base);
    if (r->strict && losses.count > 0) {
        r->outcome = "refused";
        return -1;
    }
    if (r->files &&
        image_files_pack(r->file, &r->bases, image_places, r->room, &losses.base, &end, r->why))
        return -1;
    r->files_bytes = end - IMAGE_FRONT;
    return image_write(r->file, end, r->room, r->report, &r->bases, ret, r->why);
}

static void write_it(struct request *r)
{
    struct image_descriptors *d = image_descriptors_new();
    struct image_written written = { 0 };
    unsigned n_workers = 0;
    uint64_t began_us = clock_us();
    const char *wrong = d ? prepare() : "there is no memory for the list of its descriptors";
    reap_writers();
    if (!wrong && n_writers == WRITERS_MAX)
        wrong = "it still writes earlier images: try again";
    losses.n = losses.count = 0;
    losses.base.add = add_loss;
    r->outcome = "failed";
    wrong = wrong ? wrong : threads_hold(is_worker, &n_workers);
    if (wrong) {
        (void)snprintf(r->why, sizeof r->why, "%s", wrong);
    } else {
        int rc = write_held(r, d, n_workers, &written);
        if (written.became) {
            go_on(d, written.cookie);
            r->outcome = "became";
        } else {
            threads_release();
            if (rc == 0) {
                writers[n_writers++] = written.writer;
                r->outcome = "written";
            }
        }
    }
    image_descriptors_free(d);
    r->pause_us = clock_us() - began_us;
}

/* The first descriptors of the list, then the bases. */
static bool take_fds(napi_env env, napi_value list, int *first[], size_t n_first,
                     struct image_bases *ret)
{
    uint32_t n, fd;
    napi_value item;
    if (napi_get_array_length(env, list, &n) || n < n_first || n > n_first + IMAGE_BASES_MAX)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (napi_get_element(env, list, i, &item) || napi_get_value_uint32(env, item, &fd))
            return false;
        if (i < n_first)
            *first[i] = (int)fd;
        else
            ret->fds[ret->n++] = (int)fd;
    }
    return true;
}

static bool take_request(napi_env env, napi_info info, struct request *ret)
{
    napi_value arg[4];
    size_t argc = ARRAY_LEN(arg);
    int *first[] = { &ret->file, &ret->report };
    double room;
    if (napi_get_cb_info(env, info, &argc, arg, NULL, NULL) || argc != ARRAY_LEN(arg) ||
        !take_fds(env, arg[0], first, ARRAY_LEN(first), &ret->bases) ||
        napi_get_value_double(env, arg[1], &room) ||
        napi_get_value_bool(env, arg[2], &ret->files) ||
        napi_get_value_bool(env, arg[3], &ret->strict))
        return false;
    ret->room = room > 0 && room < 0x1p62 ? (uint64_t)room : 0;
    return true;
}

napi_value node_image_write(napi_env env, napi_info info)
{
    struct request r = { 0 };
    napi_value list, item[4];
    if (!take_request(env, info, &r)) {
        (void)napi_throw_error(env, NULL, "the request came without its descriptors");
        return NULL;
    }
    write_it(&r);
    bool failed = strcmp(r.outcome, "failed") == 0;
    if (napi_create_array(env, &list) ||
        napi_create_string_utf8(env, r.outcome, SIZE_MAX, &item[0]) ||
        napi_create_string_utf8(env, failed ? r.why : losses.text,
                                failed ? strlen(r.why) : losses.n, &item[1]) ||
        napi_create_double(env, (double)r.pause_us, &item[2]) ||
        napi_create_double(env, (double)r.files_bytes, &item[3]))
        return NULL;
    for (uint32_t i = 0; i < ARRAY_LEN(item); i++)
        (void)napi_set_element(env, list, i, item[i]);
    return list;
}

/* ---- becoming ---- */

napi_value node_image_become(napi_env env, napi_info info)
{
    napi_value arg[2], result = NULL;
    size_t argc = ARRAY_LEN(arg);
    int file = -1, *first[] = { &file };
    struct image_bases bases = { 0 };
    bool files;
    char why[IMAGE_WHY] = "";
    if (napi_get_cb_info(env, info, &argc, arg, NULL, NULL) || argc != ARRAY_LEN(arg) ||
        !take_fds(env, arg[0], first, 1, &bases) || napi_get_value_bool(env, arg[1], &files)) {
        (void)napi_throw_error(env, NULL, "the request came without its descriptor");
        return NULL;
    }
    if (!files || (chdir("/") == 0 && image_files_unpack(file, &bases, image_places, why) == 0)) {
        const char *wrong = threads_end();
        if (!wrong)
            image_become(file, &bases, (uint64_t)channel_fd() << 32 | channel_sent(), why);
        if (threads_revive())
            _exit(1);
        if (wrong)
            (void)snprintf(why, sizeof why, "%s", wrong);
    }
    (void)napi_create_string_utf8(env, why, SIZE_MAX, &result);
    return result;
}

napi_value node_image_renew_contexts(napi_env env, napi_info info)
{
    napi_value arg[2], undefined;
    size_t argc = ARRAY_LEN(arg);
    if (napi_get_cb_info(env, info, &argc, arg, NULL, NULL) || argc != ARRAY_LEN(arg) ||
        napi_get_undefined(env, &undefined) || !fresh_contexts(arg[0], arg[1], undefined))
        _exit(1); /* no process is better than one that shares its random numbers */
    return NULL;
}

napi_value node_image_pid(napi_env env, napi_info info)
{
    napi_value result = NULL;
    (void)info;
    (void)napi_create_int32(env, (int32_t)getpid(), &result);
    return result;
}
