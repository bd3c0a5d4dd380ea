/* Scripts, CSV files and states in images are a stranger's: splitting ends, goes forward, and stays
 * within its memory; so does reading the others. */
#include <stdint.h>
#include <stdlib.h>

#include "base/auto.h"
#include "guests/sql/csv.h"
#include "guests/sql/pg_state.h"
#include "guests/sql/split.h"
#include "run/reports.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct statement st;
    struct err e;
    for (size_t at = 0; split_next(text, size, at, &st); at = st.next)
        if (st.start < at || st.end < st.start || st.next < st.end || st.next <= at ||
            st.next > size)
            abort();
    if (split_skip_blank(text, size, 0, false) > size)
        abort();
    scoped(csv) c = { 0 };
    csv_init(&c, text, size);
    while (csv_next(&c, &e) > 0)
        for (size_t i = 0; i < c.n_fields; i++)
            (void)csv_type_of(csv_text(&c, i), c.fields[i].n);
    struct buf state = { .data = (char *)(uintptr_t)text, .len = size };
    const char *from;
    size_t n;
    for (size_t at = 0; pg_state_next(&state, &at, &from, &n) > 0;)
        if (from < text || n > size || from + n > text + size)
            abort();
    struct report_found found = report_read(text, size);
    json_decref(found.tables);
    json_decref(found.profile);
    return 0;
}
