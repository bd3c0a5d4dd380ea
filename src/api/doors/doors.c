/* The list of all doors. Each door is declared in the folder of its name. */
#include "api/kernel/door.h"

const struct api_door *const api_doors[] = {
    NULL,
};
