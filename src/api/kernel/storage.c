#include "api/kernel/storage.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/kernel/core.h"
#include "base/auto.h"
#include "base/units.h"

enum { ASK_MS = 100 };

int storage_check(struct api *api, struct err *e)
{
    uint64_t now = uv_now(api->loop), floor = api->settings->storage_min_free;
    struct statvfs disk;
    char free_text[32], floor_text[32];
    if (!api->core->storage.asked || now - api->core->storage.asked_ms >= ASK_MS) {
        api->core->storage.asked = true;
        api->core->storage.asked_ms = now;
        api->core->storage.known = api->output_dir_fd >= 0 &&
                                   fstatvfs(api->output_dir_fd, &disk) == 0;
        if (api->core->storage.known)
            api->core->storage.free = (uint64_t)disk.f_bavail * disk.f_frsize;
    }
    if (!api->core->storage.known || api->core->storage.free >= floor)
        return 0;
    return err_set(e, ERR_STORAGE, 0,
                   "the disk of the state directory is full: %s are free, and new work needs %s "
                   "(storage.min_free)",
                   unit_format(UNIT_BYTES, api->core->storage.free, free_text, sizeof free_text),
                   unit_format(UNIT_BYTES, floor, floor_text, sizeof floor_text));
}

/* The lowest free descriptor tells how many are free at most. */
int storage_check_open_files(struct err *e)
{
    enum { NEAR = 64 };
    struct rlimit files;
    autoclose int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 ||
        (lowest >= 0 && (rlim_t)lowest + NEAR < files.rlim_cur))
        return 0;
    return err_set(e, ERR_UNAVAILABLE, 0,
                   "fewer than %d of %llu descriptors are free: raise the hard limit of open files "
                   "(LimitNOFILE= of systemd), or lower http.max_connections or runs.max",
                   NEAR, (unsigned long long)files.rlim_cur);
}
