#include "spec/wishes.h"

#include <stdlib.h>

#include "base/strv.h"

const char *const table_formats[] = {
#define X(id, word) word,
    TABLE_FORMAT_TABLE(X)
#undef X
        NULL,
};

void wishes_done(struct wishes *w)
{
    strv_free(w->allow_commands);
    strv_free(w->compiler_args);
    *w = (struct wishes){ 0 };
}

struct limits compile_limits_default(void)
{
    struct limits l = limits_default();
    l.v[LIMIT_WALL_MS] = 30000;
    l.v[LIMIT_CPU_MS] = 30000;
    l.v[LIMIT_MEMORY] = 1ULL << 30;
    l.v[LIMIT_OUTPUT] = 1ULL << 20;
    l.v[LIMIT_DISK] = 256ULL << 20;
    l.v[LIMIT_CPU_PERCENT] = 200;
    l.v[LIMIT_PIDS] = 256; /* threads of a toolchain go by the machine's CPUs */
    return l;
}
