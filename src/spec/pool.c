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

const char *const zygote_state_words[ZYGOTE_STATES_ + 1] = { "off", "booting", "up", "failed" };

const char *zygote_state_word(enum zygote_state s)
{
    return zygote_state_words[s];
}
