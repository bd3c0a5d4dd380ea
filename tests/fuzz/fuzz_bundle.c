/* Bundles: the files of a job, as init unpacks them, and the outputs of a jar, as the keeper reads
 * them. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/tree.h"
#include "jar/files.h"
#include "run/reports.h"
#include "run/result.h"
#include "run/stages.h"
#include "runtime/language.h"
#include "spec/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of all files, or -1 if the bundle is malformed. */
typedef int step(const struct buf *b, size_t *pos, struct bundle_entry *ret, bool *ret_more,
                 struct err *e);

static long long walk_by(step *next, const struct buf *b)
{
    struct bundle_entry f;
    struct err e;
    bool more = false;
    long long total = 0;
    size_t pos = 0;
    int rc;
    while ((rc = next(b, &pos, &f, &more, &e)) == 0 && more) {
        if (f.name < b->data || f.bytes + f.head.size > b->data + b->len || pos > b->len)
            abort();
        if (memchr(f.name, '\0', f.head.name_len))
            abort();
        total += (long long)f.head.size;
    }
    return rc ? -1 : total;
}

static long long walk(const struct buf *b)
{
    return walk_by(bundle_next, b);
}

static void read_outputs(const uint8_t *data, size_t size)
{
    scoped(buf) b = { 0 }, report = { 0 }, merged = { 0 };
    struct err e;
    if (buf_add(&b, data, size, &e))
        abort();
    bool well_formed = walk(&b) >= 0;
    if (walk_by(bundle_next_output, &b) < 0 && well_formed)
        abort();
    json_decref(result_files(&b));
    char **sources = NULL;
    (void)!stage_sources(language_find("c"), "main.c", &b, &sources, &e);
    free(sources);
    if (stage_merge(&b, &b, &merged, &e) == 0 && well_formed && walk(&merged) < 0)
        abort();
    if (report_cut(&b, &report, &e))
        abort();
    if (well_formed && walk(&b) < 0)
        abort(); /* without its report it is a bundle still */
}

/* In a directory whose parent has nothing else: rmdir() fails if a file landed beside it. */
static void unpack_files(const uint8_t *data, size_t size)
{
    char place[] = "/tmp/belljar-fuzz-bundle-XXXXXX";
    struct err e;
    if (!mkdtemp(place))
        abort();
    autoclose int top = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autoclose int bundle = memfd_create("fuzz", MFD_CLOEXEC);
    if (top < 0 || bundle < 0 || fd_write_all(bundle, data, size) ||
        lseek(bundle, 0, SEEK_SET) != 0 || mkdirat(top, "sandbox", 0700) < 0)
        abort();
    autoclose int dir = openat(top, "sandbox", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)!files_unpack(bundle, dir, &e);
    if (tree_remove(top, "sandbox", &e) || rmdir(place) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_outputs(data, size);
    unpack_files(data, size);
    return 0;
}
