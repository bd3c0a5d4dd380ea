#include "spec/permission.h"

#include <stddef.h>
#include <string.h>

const char *const permission_modes[] = {
#define X(word, asks) word,
    PERMISSION_MODE_TABLE(X)
#undef X
        NULL,
};

int permission_asks(const char *mode, bool *ret_asks)
{
    static const bool asks[] = {
#define X(word, asks_) asks_,
        PERMISSION_MODE_TABLE(X)
#undef X
    };
    for (size_t i = 0; permission_modes[i]; i++)
        if (strcmp(permission_modes[i], mode) == 0) {
            *ret_asks = asks[i];
            return 0;
        }
    return -1;
}
