#include "spec/pool.h"

const char *start_word(enum start s)
{
    static const char *const words[] = {
#define X(id, word) word,
        START_TABLE(X)
#undef X
    };
    return words[s];
}

const char *zygote_state_word(enum zygote_state s)
{
    static const char *const words[] = { "off", "booting", "up", "failed" };
    return words[s];
}
