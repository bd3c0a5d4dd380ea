/* runtime/language.h — a language is a declaration. Runs in: keeper, CLI; pure data.
 * Adding one: a folder with a lang.c that defines a struct language, and a row in languages[]. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "spec/zygote.h"

#define FILE_ARGUMENT "{file}"

/* A way to have the interpreter booted in advance, see zygote/driver.h. */
struct warm {
    struct zygote_def zygote;
    const char *const *imports; /* for code that imports one of these; NULL: for any code */
    bool large; /* takes tens of megabytes: few wait, and it goes first when memory is short */
};

struct language {
    const char *name;
    const char *const *aliases;    /* NULL-terminated, as all lists here */
    const char *const *extensions; /* with the dot */
    const char *main_file;         /* name of code that came without one */
    const char *const *command;    /* argv; FILE_ARGUMENT stands for the main file */
    const char *const *env;        /* K=V beyond what every program gets */
    const char *const *version;    /* argv of a program that prints the version */
    const char *install;           /* the command that gets it on Debian */
    const struct warm
        *warm; /* the first that fits is taken; a row without a name ends it; NULL: always cold */
    /* Variables that the interpreter reads while it boots, "NAME" or "PREFIX*": a job that brings one of these starts cold.
     * May be NULL. */
    const char *const *cold_env;
    const char *const *hints; /* what its lines hold and others' do not; '^': begin with */
};

enum { LANGUAGES_MAX = 32 }; /* for tables beside languages[]; language.c sees to it */
extern const struct language *const languages[]; /* NULL-terminated */

/* By name or alias, whatever the case. NULL when there is none. */
const struct language *language_find(const char *name);
/* By extension of the file's name, then by the interpreter its first line names. */
const struct language *language_guess(const char *file_name, const char *code, size_t len);
/* By what the lines look like; for code that came without a name. NULL when none stands out. */
const struct language *language_infer(const char *code, size_t len);
/* "python, javascript, bash", for error messages. */
const char *language_list(char *out, size_t size);

/* Every zygote that any language declares, in a fixed order; a kind is an index into it plus 1. How many there are. */
size_t warm_zygotes(const struct zygote_def *ret_defs[ZYGOTE_KINDS_MAX]);
/* The kind that fits a program, or 0 for a cold start: by its imports, and unless its environment keeps it from that.
 * env: the caller's own K=V, or NULL. */
unsigned warm_kind(const struct language *l, const char *code, size_t len, char *const *env);
