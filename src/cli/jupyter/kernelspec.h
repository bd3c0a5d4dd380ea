/* cli/jupyter/kernelspec.h — the directories by which Jupyter finds its kernels. Runs in: main. */
#pragma once

#include "runtime/language.h"

/* The place of the kernelspecs. */
struct kernelspec_place {
    const char *prefix; /* PREFIX/share/jupyter; NULL: see sys_prefix */
    bool sys_prefix;    /* the prefix of the current Python environment; false: the caller's own */
};

struct kernelspec {
    const struct language *language;
    const char *state, *timeout; /* options of the command line; NULL: none */
};

/* The directory "kernels". */
[[nodiscard]] int kernelspec_dir(const struct kernelspec_place *place, char *out, size_t size,
                                 struct err *e);
/* Writes DIR/belljar-LANGUAGE/kernel.json, and replaces one that is there. */
[[nodiscard]] int kernelspec_write(const char *dir, const struct kernelspec *s, struct err *e);
/* Sets *ret_found to false if it is not there. */
[[nodiscard]] int kernelspec_remove(const char *dir, const struct language *l, bool *ret_found,
                                    struct err *e);
bool kernelspec_is_there(const char *dir, const struct language *l);
