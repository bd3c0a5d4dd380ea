/* runtime/modules.h — whether a program in a jar can import a module. Runs in: keeper. Looks into the directories that jars
 * see of the host (/usr); nothing is run, and what is asked for is a plain name. */
#pragma once

#include <stdbool.h>

struct modules {
    const char *language; /* its name */
    const char *version;  /* of it, as it says itself; NULL: not known */
};
/* Whether it is known where the language's modules are: of others nothing can be said. */
bool modules_known(const char *language);
/* context: a struct modules. */
bool module_available(void *context, const char *module);
