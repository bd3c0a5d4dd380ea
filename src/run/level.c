#include "run/level.h"

#include <errno.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "run/jar_run.h"
#include "runtime/language.h"

static int open_at(enum level level, const struct run_bounds *bounds, char *const *mount_roots,
                   struct warden *ret, struct err *e)
{
    const struct zygote_def *zygotes[ZYGOTE_KINDS_MAX + 1] = { NULL };
    (void)warm_zygotes(zygotes);
    if (warden_start(level, zygotes, bounds, mount_roots, ret, e) == 0)
        return 0;
    return err_wrap(e,
                    "isolation level '%s' is not available on this machine (see 'belljar doctor')",
                    level_name(level));
}

/* The machine lacks something for the moment only. That is no reason to accept less isolation. */
static bool is_temporary(const struct err *e)
{
    static const int temporary[] = { EAGAIN, EMFILE, ENFILE, ENOMEM, EINTR, EIO };
    for (unsigned i = 0; i < ARRAY_LEN(temporary); i++)
        if (e->sys == temporary[i])
            return true;
    return e->code == ERR_NO_MEMORY || e->code == ERR_PROTOCOL;
}

int level_open_warden(enum level level, const struct run_bounds *bounds, char *const *mount_roots,
                      struct warden *ret, struct err *e)
{
    if (level != LEVEL_AUTO)
        return open_at(level, bounds, mount_roots, ret, e);
    for (unsigned i = 0; i < LEVELS_TO_TRY; i++) {
        if (open_at(levels_best_first[i], bounds, mount_roots, ret, e) == 0)
            return 0;
        if (is_temporary(e))
            return -1;
    }
    return -1; /* the error of the weakest level */
}

/* ---- the proof ---- */

static const struct language trial_program = {
    .name = "true",
    .command = (const char *const[]){ "/usr/bin/true", NULL },
    .env = (const char *const[]){ NULL },
};

static ssize_t ignore_output(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    (void)context;
    (void)stream;
    (void)bytes;
    return (ssize_t)n;
}

static int run_to_its_end(struct jar_run *r, struct err *e)
{
    while (!jar_run_is_over(r)) {
        struct pollfd polls[JAR_RUN_POLLS];
        jar_run_polls(r, polls);
        if (poll(polls, JAR_RUN_POLLS, -1) < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for events");
        if (jar_run_ready(r, polls, e))
            return -1;
    }
    if (r->end.evidence.reason == END_FAILURE) {
        *e = r->end.err;
        return -1;
    }
    if (jar_run_verdict(r) != VERDICT_OK)
        return err_set(e, ERR_UNAVAILABLE, 0, "a trial jar ended with %s",
                       verdict_word(jar_run_verdict(r)));
    return 0;
}

static int run_once(const struct warden *w, struct err *e)
{
    struct buf empty = { 0 };
    autoclose int bundle = -1;
    struct jar_run run;
    if (fd_sealed_memory("belljar-trial", &empty, &bundle, e))
        return -1;
    struct jar_request request = {
        .id = 1,
        .language = &trial_program,
        .main_name = "none",
        .limits = limits_default(),
        .bundle_fd = bundle,
    };
    if (jar_run_start(&run, w->fd, &w->isolation, &request, ignore_output, NULL, e))
        return -1;
    int rc = run_to_its_end(&run, e);
    jar_run_done(&run);
    return rc;
}

int level_try(enum level level, struct isolation *ret, struct err *e)
{
    struct warden w;
    if (warden_start(level, NULL, NULL, NULL, &w, e))
        return -1;
    int rc = run_once(&w, e);
    if (rc == 0)
        *ret = w.isolation;
    warden_stop(&w);
    return rc;
}
