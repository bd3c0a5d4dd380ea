/* api/doors/piston/piston.h — private to the door of Piston: its names of languages, its requests
 * and its results. Runs in: keeper. */
#pragma once

#include "api/doors/piston/semver.h"
#include "api/kernel/api.h"

/* ---- languages (piston_languages.c) ---- */
struct piston_runtime {
    const struct language *language;
    const char *name;           /* Piston's: "c++" */
    const char *runtime;        /* "node", "gcc"; NULL: none */
    const char *const *aliases; /* NULL-terminated */
    struct semver version;
    bool is_installed;
    bool is_pending; /* installed, but its version is not known yet */
};
enum { PISTON_VERSION_SIZE = 40 };
const char *piston_version(const struct piston_runtime *r, char out[PISTON_VERSION_SIZE]);
/* The language at an index of languages[]. */
struct piston_runtime piston_runtime_at(const struct engine *engine, size_t i);
/* By name or alias, with a version within the range. False: there is none. */
bool piston_find(const struct engine *engine, const char *name, const char *range,
                 struct piston_runtime *ret);

/* ---- requests (piston_request.c) ---- */
/* Reads the body of POST /execute, or the message `init`, and makes the JSON of POST /v1/runs. The
 * errors are Piston's sentences. */
[[nodiscard]] int piston_request(const struct api *api, const json_t *body, bool stdin_open,
                                 struct piston_runtime *ret_runtime, json_t **ret, struct err *e);

/* ---- results (piston_result.c) ---- */
/* {language, version, run, compile} of a run that is over. NULL if memory ran out. */
json_t *piston_result(const struct run *x, const struct piston_runtime *r);
/* The end of a stage: its code (-1: null), the name of its signal ("": none), its status (NULL:
 * none) and the reason ("": none). */
struct piston_end {
    int code;
    const char *status;
    char signal[24], message[400];
};
struct piston_end piston_end_of_run(const struct result *x);
/* Of the object `compile` of a result. */
struct piston_end piston_end_of_compiler(const json_t *compile);
/* Whether the program did not start because of the compiler. */
bool piston_compile_failed(const struct result *r);

extern const struct api_route piston_routes[], piston_connect_routes[];
