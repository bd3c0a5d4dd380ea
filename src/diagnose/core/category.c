/* The words of the categories. Runs in: every process that shows a diagnosis. */
#include "diagnose/core/diagnose.h"

static const char *const words[] = {
#define X(id, word) word,
    CATEGORY_TABLE(X)
#undef X
};

const char *category_word(enum category c)
{
    return (unsigned)c < CATEGORY_COUNT_ ? words[c] : "runtime";
}
