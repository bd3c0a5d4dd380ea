/* Journals: a file or a column of the database that was damaged, or written by somebody else. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/auto.h"
#include "run/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_streams(const struct journal *j)
{
    struct err e;
    for (int kind = 0; kind < JOURNAL_KINDS; kind++) {
        scoped(buf) all = { 0 }, ends = { 0 };
        uint64_t bytes = j->stream_bytes[kind];
        if (journal_collect(j, (enum journal_kind)kind, UINT64_MAX, &all, &e) || all.len != bytes)
            abort();
        if (journal_both_ends(j, (enum journal_kind)kind, 16, &ends, &e) || ends.len > 17)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(buf) bytes = { 0 };
    scoped(journal) j = { 0 };
    struct journal_reader at = { 0 };
    struct journal_record r = { 0 };
    struct err e;
    bool more = true;
    uint64_t n = 0;
    if (buf_add(&bytes, data, size, &e) || journal_open(&j, &bytes, -1, "fuzz", &e))
        abort(); /* a damaged end is cut off */
    while (journal_next(&j, &at, &r, &more, &e) == 0 && more)
        n++;
    if (n != j.records)
        abort();
    buf_done(&r.bytes);
    read_streams(&j);
    return 0;
}
