/* spec/wishes.h — what a caller may wish for beyond having a program run. Runs in: keeper, CLI; pure data. */
#pragma once

#include <stdbool.h>

#include "spec/limit.h"

/* How tables are printed. */
#define TABLE_FORMAT_TABLE(X)          \
    X(TABLE_ALIGNED,  "table")         \
    X(TABLE_CSV,      "csv")           \
    X(TABLE_MARKDOWN, "markdown")      \
    X(TABLE_JSON,     "json")          \
    X(TABLE_HTML,     "html")

enum table_format {
#define X(id, word) id,
    TABLE_FORMAT_TABLE(X)
#undef X
        TABLE_FORMAT_COUNT_
};
extern const char *const table_formats[]; /* words, in that order; NULL-terminated */

struct wishes {
    bool profile;     /* where the time goes, and memory and CPU over time */
    bool check_types; /* errors of types are the compiler's */
    enum table_format format;
    char **allow_commands; /* of a shell: nothing else is executed. NULL: anything */
    char **compiler_args;  /* after the compiler's own; NULL: none */
    struct limits compile_limits;
    bool no_cache; /* compile anew, and keep nothing of it */
};
void wishes_done(struct wishes *w);

/* What a service keeps in memory of what a compiler prints, of each stream: nobody may ask for more there. */
#define COMPILE_OUTPUT_MAX (4ULL << 20)
/* What a compiler gets when nothing is said. */
struct limits compile_limits_default(void);
