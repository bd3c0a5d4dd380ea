#include "runtime/plain/proc_environ.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/array.h"

/* proc(5): fields of /proc/PID/stat, counted from 1. */
enum {
    FIELD_START_CODE = 26,
    FIELD_END_CODE,
    FIELD_START_STACK,
    FIELD_START_DATA = 45,
    FIELD_END_DATA,
    FIELD_START_BRK,
    FIELD_ARG_START,
    FIELD_ARG_END,
    FIELD_ENV_START,
    FIELD_ENV_END,
    FIELDS,
};

static bool read_fields(uint64_t fields[FIELDS])
{
    char text[2048];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    char *at = strrchr(text, ')'); /* the end of the name, which may contain anything */
    int field = 2;
    while (at && (at = strchr(at, ' ')) && ++field < FIELDS)
        fields[field] = strtoull(++at, NULL, 10);
    return field == FIELDS;
}

/* Where the variables for the boot begin. A kind declares them last. */
static const char *end_of_usual(const char *at, const char *end)
{
    static const char *const ours[] = { "BELLJAR_", "OPENBLAS_" };
    for (; at < end; at += strlen(at) + 1)
        for (size_t i = 0; i < ARRAY_LEN(ours); i++)
            if (strncmp(at, ours[i], strlen(ours[i])) == 0)
                return at;
    return end;
}

void proc_environ_hide_boot(void)
{
    uint64_t f[FIELDS] = { 0 };
    if (!read_fields(f) || f[FIELD_ENV_START] == 0)
        return;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address out of /proc */
    const char *first = (const char *)(uintptr_t)f[FIELD_ENV_START];
    if (strncmp(first, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
        return;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the same */
    const char *end = end_of_usual(first, (const char *)(uintptr_t)f[FIELD_ENV_END]);
    struct prctl_mm_map map = {
        .start_code = f[FIELD_START_CODE],
        .end_code = f[FIELD_END_CODE],
        .start_data = f[FIELD_START_DATA],
        .end_data = f[FIELD_END_DATA],
        .start_brk = f[FIELD_START_BRK],
        .brk = (uintptr_t)sbrk(0),
        .start_stack = f[FIELD_START_STACK],
        .arg_start = f[FIELD_ARG_START],
        .arg_end = f[FIELD_ARG_END],
        .env_start = f[FIELD_ENV_START] + strlen(first) + 1,
        .env_end = (uintptr_t)end,
        .exe_fd = (uint32_t)-1,
    };
    (void)prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
}
