/* The slate: memory that an embryo shares with the warden. A program that fails leaves the values of
 * its variables there (spec/job.h: JOB_VALUES). A file would need a collector, which takes longer than
 * everything else about a failure. Runs in: warden.
 *
 * The guest can write to it at any time. The kernel copies it in its whole length, when every process of
 * the jar is dead; the warden reads none of it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "jar/jar_impl.h"
#include "spec/bundle.h"

int jar_make_slate(struct jar *j, struct err *e)
{
    if (!j->source->tells)
        return 0;
    j->slate_fd = memfd_create("slate", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (j->slate_fd < 0 || ftruncate(j->slate_fd, SLATE_BYTES) < 0 ||
        fcntl(j->slate_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return err_set(e, ERR_KERNEL, errno, "make memory for values");
    return 0;
}

bool jar_failed_by_itself(const struct jar *j)
{
    enum { INTERPRETER_ERROR = 1 }; /* the status with which interpreters end after an error */
    const struct evidence *ev = &j->outcome.evidence;
    return ev->reason == END_EXIT && j->program_reaped && ev->signal == 0 &&
           ev->exit_code == INTERPRETER_ERROR;
}

/* The pipe is empty: nobody else writes to it before the collector. With room for all it does not
 * block the warden. The kernel moves the bytes. */
static int send_slate(int out_fd, int slate_fd, struct err *e)
{
    enum { ROOM = 2 * SLATE_BYTES };
    scoped(buf) head = { 0 };
    off_t at = 0;
    if (fcntl(out_fd, F_GETPIPE_SZ) < ROOM)
        return 0;
    if (bundle_add_head(&head, WHEREABOUTS_FILE, OUTPUT_OK, 0, SLATE_BYTES, e))
        return -1;
    bool sent = fd_write_all(out_fd, head.data, head.len) == 0;
    while (sent && at < SLATE_BYTES)
        sent = sendfile(out_fd, slate_fd, &at, (size_t)(SLATE_BYTES - at)) > 0;
    return sent ? 0 : err_set(e, ERR_KERNEL, errno, "send the values of a program");
}

void jar_send_slate(struct jar *j)
{
    struct stat st;
    struct err e;
    int fd = j->slate_fd;
    bool told = fd >= 0 && j->job.flags & JOB_VALUES && jar_failed_by_itself(j) &&
                fstat(fd, &st) == 0 && st.st_blocks > 0;
    if (told && send_slate(j->fds[JOB_FD_OUTPUTS], fd, &e))
        jar_fail(j, &e);
    fd_close(&j->slate_fd); /* a next job of this jar is no embryo */
}
