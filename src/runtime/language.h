/* runtime/language.h — a language is a declaration. Runs in: keeper, CLI; pure data.
 * There are two ways to add one. A file NAME.lang in a directory needs no C (runtime/declaration.h,
 * docs/languages.md). A built-in language is a folder with a lang.c that defines a struct language,
 * a row in language.c, and a name in meson.build. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/err.h"
#include "spec/bundle.h"
#include "spec/limit.h"
#include "spec/pool.h"
#include "spec/run_options.h"

/* Placeholders in a command, as a whole word or inside one:
 *     {file}        the main file
 *     {stem}        its name without the extension
 *     {args}        alone: the arguments; a command without it gets them at its end
 *     {guest}       our own programs and data for languages (base/place.h)
 *     {sources}     alone: every file with an extension of the language, main file first
 *     {program}     the file that the compiler makes and the run executes
 *     {format}      the output format of tables (spec/run_options.h)
 *     {memory_mib}  seven tenths of the run's memory limit: the heap of a virtual machine
 * env and compile_env may use them too, except {args} and {sources}. */
#define FILE_ARGUMENT "{file}"

/* One kind of zygote: a way to boot the interpreter in advance, see zygote/driver.h. */
struct warm {
    struct zygote_def zygote;
    const char *const *imports; /* for code that imports one of these; NULL: for any code */
    /* takes tens of megabytes: few embryos wait, and it is the first to go when memory is short */
    bool large;
    bool session;        /* boots the program of a session, not of a run */
    bool image;          /* of a session: boots nothing, because its embryos become an image */
    struct limits least; /* used by an embryo before its job: a job with lower limits starts cold */
};

/* Files of a seed that a library would otherwise make anew in the home directory of each cold run
 * (run/home_seed.h). A zygote has imported the library already. */
struct home_seed {
    const char *const *imports; /* for code that imports one of these */
    const char *from;           /* the folder of the seed */
    const char *to;             /* the folder below the home directory */
    const char *const *unless;  /* "NAME" or "PREFIX*": with such a variable it looks elsewhere */
};

/* Code of a user does not run in a compiler or type checker, and most of these make no socket
 * themselves. (javac does: its files need one.) */
enum no_sockets { NO_SOCKETS_IN_COMPILER = 1, NO_SOCKETS_IN_PROGRAM = 2 };

struct language {
    const char *name;
    const char *const *aliases;    /* NULL-terminated, as all lists here */
    const char *const *extensions; /* with the dot */
    const char *main_file;         /* the name of code that came without one */
    /* For a language whose compiler wants a file named after its public type: the words that may
     * stand before that name (runtime/public_type.h). NULL: any file name will do. */
    const char *const *public_types;
    const char *const *command; /* argv of the run */
    /* For a compiled language: argv of the compiler, which runs in its own jar with the job's
     * files. The products are the names in /sandbox that go into the jar of the run in place of the
     * sources; "." means everything. NULL: not compiled. */
    const char *const *compile;
    const char *const *compile_env; /* K=V; may be NULL */
    const char *const *products;
    /* argv of a type checker (spec/run_options.h). Its failure counts as the compiler's. NULL:
     * none. */
    const char *const *check;
    /* argv of a profiled run, which writes its samples into the report (run/reports.h). NULL:
     * measured only from outside. */
    const char *const *profile;
    /* argv of a run that tells the values of its variables if it fails (spec/job.h), and is slower for
     * it. NULL: it never does, or in an embryo alone. */
    const char *const *values_command;
    /* argv of a run whose displays are kept: it writes them into the report (run/reports.h). It
     * starts in an embryo of a session. NULL: there are no displays. */
    const char *const *display;
    /* argv of the program of a session, which reads cells from a channel (spec/job.h). NULL: there
     * are no sessions. */
    const char *const *session;
    /* The name that this program gives to the text of a cell; '#' is its number. NULL: none. */
    const char *cell_name;
    bool forks;          /* that program writes images of itself, and becomes them */
    bool rests;          /* and does nothing between two cells, if it has just become one */
    bool reports;        /* runs leave a report (run/reports.h) */
    bool whereabouts;    /* runs answer SIGURG with the lines that they are at (spec/job.h) */
    bool values;         /* runs tell the values of their variables at an error (spec/job.h) */
    unsigned no_sockets; /* enum no_sockets: where no job of this language can need a socket */
    bool shell;          /* allow_commands applies to it */
    /* the language whose error grammar it uses (diagnose/core/diagnose.h); NULL: its own name */
    const char *grammar;
    const char *const *env;     /* K=V in addition to the variables of every program */
    const char *const *version; /* argv of a program that prints the version */
    const char *install;        /* the command that installs it on Debian */
    /* True: its folder in {guest} holds a script "prepare", which fills an empty directory with
     * data that makes later runs faster. `belljar languages prepare` makes {guest}/NAME/seed with
     * it. */
    bool seeded;
    const char *const
        *seed_sources; /* files of the machine that the seed is made from; may be NULL */
    const struct home_seed *home_seed; /* may be NULL */
    /* the first fitting row wins; a row without a name ends the list; NULL: always cold */
    const struct warm *warm;
    /* Variables that the interpreter reads while it boots, "NAME" or "PREFIX*". A job that sets one
     * starts cold. May be NULL. */
    const char *const *cold_env;
    /* Pieces of lines that are typical of the language: "x" anywhere, "^x" at the start, "~x" at
     * the end, "|x" the whole line. "!" in front: strong, hardly any other language has it. "-" in
     * front: hardly ever in this language. "^^x": a program that begins with x is in this language.
     * "<bash": it is a dialect of bash and uses its hints too. */
    const char *const *hints;
    /* Prompts of its sessions: pairs of a prompt and a continuation prompt. '#' is any number. "!"
     * in front of a prompt: no program of any language begins with it. May be NULL. */
    const char *const *prompts;
    /* Words after a Markdown fence that mean such a session: "pycon". May be NULL. */
    const char *const *session_names;
    /* A dict literal with code and without a language holds code of this language. */
    bool in_dicts;
};
/* The symbol of a built-in language, and the members that every declaration begins with. */
#define DECLARE_LANGUAGE(id)                    \
    extern const struct language language_##id; \
    const struct language language_##id
#define NAMED(name_, main_file_, extensions_, aliases_) \
    .name = (name_), .main_file = (main_file_), .extensions = (extensions_), .aliases = (aliases_)

enum {
    LANGUAGES_MAX = 64, /* the size of tables parallel to languages[]; language.c enforces it */
    LANGUAGE_NAME_SIZE = 32,
    CANDIDATES_MAX = 3
};
/* NULL-terminated: the built-in languages, then those of language_load(). Set before the process
 * has a second thread or a child, and constant afterwards. */
extern const struct language *const *languages;
/* Problems with files of that directory, as sentences; NULL-terminated. */
extern const char *const *language_problems;

/* Adds the languages declared by files of the directory (runtime/declaration.h). NULL means
 * DROPINS_DIR, which may be missing. A bad file is a problem and not an error; a named directory
 * that cannot be read is an error. */
[[nodiscard]] int language_load(const char *dir, struct err *e);

/* By name or alias, in any case of letters. NULL if there is none. */
const struct language *language_find(const char *name);
/* By the interpreter in the first line. */
const struct language *language_by_first_line(const char *code, size_t len);
/* By the extension. */
const struct language *language_by_name(const char *file_name);
/* True if a file of that name is one of its sources; case matters. */
bool language_has(const struct language *l, const char *file_name, size_t len);
/* By the first line, then by the name. */
const struct language *language_guess(const char *file_name, const char *code, size_t len);
enum { MAIN_NAME_SIZE = 160 };
/* The name of code that came without one. */
const char *language_main_name(const struct language *l, const char *code, size_t len,
                               char out[MAIN_NAME_SIZE]);
/* Renames files whose language wants them to have the name of their public type, and the main file
 * with them. A name that another file has stays with that file. More than
 * 256 files keep their names. */
[[nodiscard]] int language_name_files(const struct language *l, struct buf *bundle,
                                      char main_name[BUNDLE_NAME_MAX + 1], struct err *e);
/* By the look of its lines, for code that came without a name. NULL if no language stands out. */
const struct language *language_infer(const char *code, size_t len);
/* The languages that the code looks like, the most likely first. Returns their number.
 * `*ret_clear`: the first one stands out. */
size_t language_candidates(const char *code, size_t len, const struct language *ret[CANDIDATES_MAX],
                           bool *ret_clear);
/* The language whose error grammar it uses; NULL for NULL. */
const char *language_grammar(const struct language *l);
/* Always -1: the error for an unknown name, with the most similar name and a list of all. */
[[nodiscard]] int language_refuse(const char *name, struct err *e);
/* "python, javascript, bash", for error messages. */
const char *language_list(char *out, size_t size);
/* The same for the languages that have sessions. */
const char *language_session_list(char *out, size_t size);
/* Checks that the language supports the run options, and that they go together. The error names the
 * option and the languages that support it. Lists of commands: src/allowlist. */
[[nodiscard]] int language_takes(const struct language *l, const struct run_options *w,
                                 const char **ret_field, struct err *e);

/* Every zygote that any language declares, in a fixed order. A kind is an index into it plus 1.
 * Returns their number. */
size_t warm_zygotes(const struct zygote_def *ret_defs[ZYGOTE_KINDS_MAX]);
/* The number of kinds beyond ZYGOTE_KINDS_MAX, whose programs start cold, and the first of them. */
size_t warm_left_out(const char **ret_first);
/* The kind that fits a program by its imports, or 0 for a cold start. A variable of cold_env means
 * a cold start. env: the caller's own K=V, or NULL. */
unsigned warm_kind(const struct language *l, const char *code, size_t len, char *const *env);
/* The kind for a session, or 0 for a cold start. */
unsigned warm_session_kind(const struct language *l, char *const *env);
/* The kind of a session that begins in an image. */
unsigned warm_image_kind(const struct language *l, char *const *env);
/* True if a line of the code imports one of the modules, as Python writes it. */
bool code_imports(const char *code, size_t len, const char *const *imports);
/* True if one of the K=V entries has a name in the list: "NAME" or "PREFIX*". Both may be NULL. */
bool env_names(char *const *env, const char *const *patterns);
/* The kind, or 0 if the limits are lower than its embryos need. */
unsigned warm_within(unsigned kind, const struct limits *limits);
