/* diagnose/core/diagnose.h — explains a failed run: the error, its place, and suggestions.
 * Runs in: reader. Pure functions over text: nothing is opened or executed.
 *
 * DIAGNOSE-1 Time and memory are linear in the text, which is bounded. Backtracking of patterns is
 *            bounded too.
 * DIAGNOSE-2 A diagnosis helps the reader and decides nothing. The verdict is an input and is never
 *            concluded from the output: a program can print a false traceback.
 * DIAGNOSE-3 A suggestion is true: it was seen in the text, in the source or in the policy.
 * DIAGNOSE-4 People paste suggestions into shells. A command or option in a suggestion has nothing
 *            of the guest's except a plain name.
 * DIAGNOSE-5 Output of the guest reaches a terminal without control characters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "spec/verdict.h"

#define CATEGORY_TABLE(X) /* id, word */ \
    X(CATEGORY_RUNTIME, "runtime")       \
    X(CATEGORY_SYNTAX, "syntax")         \
    X(CATEGORY_NAME, "name")             \
    X(CATEGORY_IMPORT, "import")         \
    X(CATEGORY_TYPE, "type")             \
    X(CATEGORY_VALUE, "value")           \
    X(CATEGORY_INDEX, "index")           \
    X(CATEGORY_IO, "io")                 \
    X(CATEGORY_PERMISSION, "permission") \
    X(CATEGORY_NETWORK, "network")       \
    X(CATEGORY_RESOURCE, "resource")     \
    X(CATEGORY_ASSERTION, "assertion")   \
    X(CATEGORY_COMPILE, "compile")       \
    X(CATEGORY_SANDBOX, "sandbox")

enum category {
#define X(id, word) id,
    CATEGORY_TABLE(X)
#undef X
        CATEGORY_COUNT_
};
const char *category_word(enum category c);

enum {
    DIAGNOSE_TEXT_MAX = 256 << 10,   /* bytes of stderr: half from its begin, half from its end */
    DIAGNOSE_LINES_MAX = 4096,       /* lines, counted the same way */
    DIAGNOSE_SOURCE_MAX = 512 << 10, /* bytes of a file; a larger file is known by its name alone */
    DIAGNOSE_SOURCES_MAX = 4 << 20,  /* bytes of all files: the first files that fit */
    DIAGNOSE_FRAMES = 32,
    DIAGNOSE_CAUSES = 8,
    DIAGNOSE_SUGGESTIONS = 4,
    DIAGNOSE_EXCERPT = 7,
    DIAGNOSE_FURTHER = 20,
    DIAGNOSE_VALUES = 24,
    DIAGNOSE_SHAPE = 8,
};

/* Lines and columns count from 1; 0: not known. Columns count characters. */
struct place_in_code {
    char file[256]; /* as users know it: "main.py", not "/sandbox/main.py" */
    uint32_t line, column, end_column;
};

struct diagnosis {
    char language[32];
    enum category category;
    char type[128];     /* "NameError", "E0382", "TS2322", "42P01", "SIGSEGV"; "": it has none */
    char message[1024]; /* one line or a few */
    struct place_in_code location;
    size_t n_frames;
    struct frame {
        struct place_in_code at;
        char function[128];
        bool user; /* in a file of the job's; such frames come first */
    } frames[DIAGNOSE_FRAMES];
    size_t n_causes; /* the errors that led to it, the nearest first */
    struct cause {
        char type[128], message[512];
        struct place_in_code at;
    } causes[DIAGNOSE_CAUSES];
    size_t n_further; /* other errors of the same output, in its order, each once */
    struct further_error {
        char type[64], message[400];
        struct place_in_code at;
        bool anywhere; /* the same message at another place is the same error */
        bool by_place; /* so is another message at the same place */
    } further[DIAGNOSE_FURTHER];
    size_t further_left_out; /* how many more the part of the text that is read has */
    size_t n_excerpt;
    struct excerpt_line {
        uint32_t line;
        char text[240];
        uint32_t caret, caret_end; /* columns in text to point at; 0: none */
    } excerpt[DIAGNOSE_EXCERPT];
    size_t n_suggestions; /* the best first */
    struct suggestion {
        char text[400];        /* a whole sentence */
        char replacement[240]; /* for the line at `location`, or a line to write; "": none */
        double confidence;     /* 0 to 1 */
        unsigned rule;         /* its number among the most common errors (README.md); 0: another */
    } suggestions[DIAGNOSE_SUGGESTIONS];
    /* The variables that the failing line and the line of its caller name, as the program told them.
     * It may have invented them. */
    size_t n_values;
    struct value {
        struct place_in_code at; /* file and line */
        char function[128];
        char name[100], type[80]; /* "self.total"; the language's own name of the type */
        bool sized;
        uint64_t size; /* elements, characters or bytes */
        size_t n_shape;
        uint64_t shape[DIAGNOSE_SHAPE]; /* of an array or a table */
        char dtype[32];                 /* of its elements; "": none */
        char preview[400];              /* "": none */
        bool masked;                    /* by its name it is a secret: there is no preview */
        bool cut;                       /* the preview shows a part of it */
    } values[DIAGNOSE_VALUES];
    size_t last;    /* the suggestion that was added last, for suggest_replacement() */
    char docs[200]; /* an address; "": none */
    bool sandbox;   /* Belljar's own policy caused it */
    enum verdict verdict;
};

struct source_file {
    const char *name; /* as in the job */
    const char *text;
    size_t len;
};

struct diagnose_input {
    const char *language; /* shown */
    const char *grammar;  /* the language whose grammar reads it; NULL: concluded from the text */
    bool compiling;       /* the text is the compiler's, not the program's */
    const char *text;     /* stderr */
    size_t len;
    const char *printed; /* stdout: some languages report there. May be NULL. */
    size_t printed_len;
    const char *main_name;
    const struct source_file *sources;
    size_t n_sources;
    /* Measurements; NULL for output that Belljar did not run. */
    const struct evidence *evidence;
    const struct limits *limits;
    const struct usage *usage;
    enum verdict verdict;
    /* Policy. */
    bool sealed; /* it ran in a jar: a read-only root, and only the network that it was given */
    bool has_network;
    const char *network_advice; /* a sentence about its last failed connection; NULL: none failed */
    const char *network_list;   /* "pypi.org:443, ..."; NULL: there is none */
    bool is_cell;               /* of a session */
    char *const *allow_commands;
    size_t statement; /* 1 + the byte of the main file at which it was stopped; 0: not known */
    /* The lines that it was at before a deadline ended it, or the values of its variables when it
     * failed (spec/job.h), by its own word; NULL: none. */
    const char *whereabouts;
    size_t whereabouts_len;
    uint32_t hot_line; /* where a profile saw most of the time; 0: not known */
    /* Whether a module can be imported here; NULL: not known. */
    bool (*available)(void *context, const char *module);
    void *context;
};

/* Holds the compiled patterns. A process has one, and one thread uses it. */
struct diagnoser;
[[nodiscard]] int diagnoser_new(struct diagnoser **ret, struct err *e);
void diagnoser_free(struct diagnoser *g); /* accepts NULL */

/* True with *ret filled in; false when there is nothing to say: the run ended well, or printed no
 * error. */
bool diagnose(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *ret);

/* Whether the replacement is for the line at `location`; otherwise it is a line to write. It has most
 * words of the line that it corrects. */
bool suggestion_corrects_line(const struct diagnosis *d, const struct suggestion *s);
/* As people read it: the message, the place, the lines with a caret, the suggestions. columns: the
 * width of the terminal; 0: lines are not wrapped. */
[[nodiscard]] int diagnosis_text(const struct diagnosis *d, bool colour, int columns,
                                 struct buf *out, struct err *e);
