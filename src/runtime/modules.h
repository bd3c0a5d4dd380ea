/* runtime/modules.h — checks whether a program in a jar can import a module. Runs in: keeper. Looks
 * into the host's directories that jars see (/usr). Runs nothing, and accepts only plain names. */
#pragma once

#include <stdbool.h>

struct modules {
    const char *language; /* the name of the language */
    const char *version;  /* its version as the interpreter prints it; NULL: unknown */
};
/* True if the places of the language's modules are known. For other languages no answer is
 * possible. */
bool modules_known(const char *language);
/* context: a struct modules. */
bool module_available(void *context, const char *module);
