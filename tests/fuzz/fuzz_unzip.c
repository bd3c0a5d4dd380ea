/* tests/fuzz/fuzz_unzip.c — zip archives and ranges of versions from strangers. The first byte
 * chooses. Every unpacked file has a name below the directory of the program, and all files together
 * keep the bounds. */
#include <stdlib.h>
#include <string.h>

#include "api/doors/judge0/judge0.h"
#include "api/doors/piston/semver.h"
#include "spec/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_files(const json_t *files)
{
    const json_t *file;
    struct err e;
    size_t i, bytes = 0;
    json_array_foreach(files, i, file) {
        const char *name = json_string_value(json_object_get(file, "name"));
        if (!name || bundle_name_check(name, strlen(name), &e))
            abort();
        bytes += json_string_length(json_object_get(file, "content"));
    }
    if (json_array_size(files) > UNZIP_FILES_MAX || bytes / 4 * 3 > UNZIP_BYTES_MAX + 3 * i)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e;
    if (size == 0)
        return 0;
    if (data[0] & 1) {
        char text[200] = "";
        struct semver v = { { 1, 2, 3 } };
        memcpy(text, data + 1, size - 1 < sizeof text - 1 ? size - 1 : sizeof text - 1);
        (void)semver_within(&v, text);
        (void)semver_read(text, &v);
        return 0;
    }
    json_t *files = json_array();
    (void)!judge0_unzip((const char *)data + 1, size - 1, files, &e);
    check_files(files);
    json_decref(files);
    return 0;
}
