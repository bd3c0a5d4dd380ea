/* runtime/language.h — a language is a declaration. Runs in: keeper, CLI; pure data.
 * Adding one: a file NAME.lang in a directory (runtime/declaration.h, docs/languages.md), or, to have it built in, a folder
 * with a lang.c that defines a struct language, and a row in language.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "spec/limit.h"
#include "spec/wishes.h"
#include "spec/zygote.h"

/* What stands for something else in a command, as a whole word or in one:
 *     {file}        the main file
 *     {stem}        its name without the extension
 *     {args}        alone: the arguments; a command without it has them at its end
 *     {guest}       our own programs and data for languages (base/place.h)
 *     {sources}     alone: every file of the job with one of the language's extensions, the main file first
 *     {program}     what the compiler is to make, and what is then run
 *     {format}      how tables are printed (spec/wishes.h)
 *     {memory_mib}  of the run's memory limit, seven tenths: what a virtual machine may take for its heap
 * In env and compile_env as well, but for those that stand alone. */
#define FILE_ARGUMENT "{file}"

/* A way to have the interpreter booted in advance, see zygote/driver.h. */
struct warm {
    struct zygote_def zygote;
    const char *const *imports; /* for code that imports one of these; NULL: for any code */
    bool large; /* takes tens of megabytes: few wait, and it goes first when memory is short */
    struct limits least; /* what an embryo has used before its job: with less, a job starts cold */
};

struct language {
    const char *name;
    const char *const *aliases;    /* NULL-terminated, as all lists here */
    const char *const *extensions; /* with the dot */
    const char *main_file;         /* name of code that came without one */
    /* What may stand between "public" and the name of a type after which its compiler wants the file to be named; NULL: it has no
     * such wishes. */
    const char *const *public_types;
    const char *const *command; /* argv of the run */
    /* A language that is compiled: argv of the compiler, in a jar of its own, with the job's files. What it leaves in
     * /sandbox under these names ("." is everything) is put into the jar of the run in place of the sources. NULL: none. */
    const char *const *compile;
    const char *const *compile_env; /* K=V; may be NULL */
    const char *const *products;
    /* argv of a checker of types (spec/wishes.h); its failure is the compiler's. NULL: none. */
    const char *const *check;
    /* argv of the run when it is to be profiled; what it measures is in its report (engine/reports.h). NULL: measured from
     * outside alone. */
    const char *const *profile;
    bool reports;               /* runs leave a report (engine/reports.h) */
    bool shell;                 /* allow_commands is for it */
    const char *grammar;        /* of its errors (diagnose/diagnose.h); NULL: its name */
    const char *const *env;     /* K=V beyond what every program gets */
    const char *const *version; /* argv of a program that prints the version */
    const char *install;        /* the command that gets it on Debian */
    /* Its folder in {guest} holds a script "prepare" that is given an empty directory to fill with what saves time later:
     * {guest}/NAME/seed, made by `belljar languages prepare`. */
    bool seeded;
    const struct warm
        *warm; /* the first that fits is taken; a row without a name ends it; NULL: always cold */
    /* Variables that the interpreter reads while it boots, "NAME" or "PREFIX*": a job that brings one of these starts cold.
     * May be NULL. */
    const char *const *cold_env;
    /* What its lines hold and others' mostly do not: "x" anywhere, "^x" begin with it, "~x" end with it, "|x" are it; "!" before
     * that: hardly any other's; "-" before it: hardly ever one of its own. "^^x": a program that begins with it is one, whatever
     * follows. "<bash": it is a dialect of bash, whose hints are its own as well. */
    const char *const *hints;
};

enum {
    LANGUAGES_MAX = 64, /* for tables beside languages[]; language.c sees to it */
    LANGUAGE_NAME_SIZE = 32,
    CANDIDATES_MAX = 3
};
/* NULL-terminated: our own, then those of language_load(). Set before the process has a second thread or a child, and not
 * changed after. */
extern const struct language *const *languages;
/* What was wrong with files of that directory, in words; NULL-terminated. */
extern const char *const *language_problems;

/* Adds the languages that are declared by files of the directory (runtime/declaration.h); NULL: of DROPINS_DIR, which need not
 * be there. A file that is bad is a problem and no error; a directory that is named and cannot be used is one. */
[[nodiscard]] int language_load(const char *dir, struct err *e);

/* By name or alias, whatever the case. NULL when there is none. */
const struct language *language_find(const char *name);
/* By the interpreter that the first line names. */
const struct language *language_by_first_line(const char *code, size_t len);
/* By the extension. */
const struct language *language_by_name(const char *file_name);
/* Whether a file of that name is one of its sources, by the letter. */
bool language_has(const struct language *l, const char *file_name, size_t len);
/* By the first line, then by the name. */
const struct language *language_guess(const char *file_name, const char *code, size_t len);
enum { MAIN_NAME_SIZE = 160 };
/* The name of code that came without one. */
const char *language_main_name(const struct language *l, const char *code, size_t len,
                               char out[MAIN_NAME_SIZE]);
/* By what the lines look like; for code that came without a name. NULL when none stands out. */
const struct language *language_infer(const char *code, size_t len);
/* Those it looks like, likeliest first; how many. `*ret_clear`: the first stands out. */
size_t language_candidates(const char *code, size_t len, const struct language *ret[CANDIDATES_MAX],
                           bool *ret_clear);
/* The one that its errors are read by; NULL for NULL. */
const char *language_grammar(const struct language *l);
/* Always -1: the error for a name that none has, with what was meant and all there are. */
[[nodiscard]] int language_refuse(const char *name, struct err *e);
/* "python, javascript, bash", for error messages. */
const char *language_list(char *out, size_t size);
/* Whether what is wished for can be had in this language; an error that names those where it can, and the wish's field. Lists of
 * commands: src/commands. */
[[nodiscard]] int language_takes(const struct language *l, const struct wishes *w,
                                 const char **ret_field, struct err *e);

/* Every zygote that any language declares, in a fixed order; a kind is an index into it plus 1. How many there are. */
size_t warm_zygotes(const struct zygote_def *ret_defs[ZYGOTE_KINDS_MAX]);
/* The kind that fits a program, or 0 for a cold start: by its imports, and unless its environment keeps it from that.
 * env: the caller's own K=V, or NULL. */
unsigned warm_kind(const struct language *l, const char *code, size_t len, char *const *env);
/* The kind, or 0 when such limits are less than its embryos need. */
unsigned warm_within(unsigned kind, const struct limits *limits);
