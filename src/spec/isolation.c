#include "spec/isolation.h"

#include <string.h>

const enum level levels_best_first[LEVELS_TO_TRY] = { LEVEL_JAR, LEVEL_ROOTLESS, LEVEL_PROCESS };

const char *const level_names[LEVEL_COUNT_ + 1] = {
    [LEVEL_AUTO] = "auto",
    [LEVEL_PROCESS] = "process",
    [LEVEL_ROOTLESS] = "rootless",
    [LEVEL_JAR] = "jar",
};

static const struct {
    const char *name, *what;
} layers[] = {
#define X(id, name_, what_) [id] = { name_, what_ },
    LAYER_TABLE(X)
#undef X
};

const char *level_name(enum level l)
{
    return (unsigned)l < LEVEL_COUNT_ ? level_names[l] : "unknown";
}

int level_parse(const char *name, enum level *ret_level)
{
    for (int i = 0; i < LEVEL_COUNT_; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *ret_level = (enum level)i;
            return 0;
        }
    }
    return -1;
}

const char *layer_name(enum layer l)
{
    return (unsigned)l < LAYER_COUNT_ ? layers[l].name : "unknown";
}

const char *layer_what(enum layer l)
{
    return (unsigned)l < LAYER_COUNT_ ? layers[l].what : "unknown";
}
