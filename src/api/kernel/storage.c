#include "api/kernel/storage.h"

#include <sys/statvfs.h>

#include "api/kernel/core.h"
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
