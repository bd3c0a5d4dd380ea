/* cli/args.h — a command, its options and its verbs as tables.
 * Runs in: main. One table feeds parsing, --help, the man page (manual/manual.h) and the
 * completions (manual/completion.h): a new option is one row. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct page;
struct arg_row;

/* The i-th word that is accepted as a value; NULL past the last one. */
typedef const char *arg_word_at(const void *def, size_t i);

/* The values that the shell offers for an option or an operand. */
struct arg_values {
    enum { VALUES_ANY, VALUES_FILE, VALUES_DIRECTORY, VALUES_WORDS } kind;
    arg_word_at *word_at; /* of VALUES_WORDS */
};

/* Takes the value of an option that is not simply stored. Without a metavar the value is NULL. */
typedef int arg_apply(void *options, const struct arg_row *row, const char *value, struct err *e);

struct arg_row {
    const char *name;    /* without the dashes */
    const char *metavar; /* NULL: the option takes no value */
    const char *help;
    char letter;      /* the short form; 0: none */
    bool repeats;     /* can be given more than once */
    bool shows_words; /* --help lists the accepted words */
    /* In the options of the command. The member is a const char *, or without a metavar a bool. */
    size_t offset;
    arg_apply *apply; /* instead of storing at the offset */
    const void *def;  /* the row of another table that this row is made from */
    struct arg_values values;
    const char *example;   /* NULL: none */
    const char *group;     /* heading in --help; NULL: "Options" */
    char default_text[24]; /* "": none */
};

/* `belljar COMMAND VERB OPERAND...` */
struct verb {
    const char *name;
    const char *operands; /* for the usage line; "": none */
    const char *help;
    size_t min_operands, max_operands;
    struct arg_values values; /* of the operands */
    /* Exit status, or -1. */
    int (*run)(void *options, int argc, char **argv, struct err *e);
};

enum { ARGS_ROWS_MAX = 64, ARGS_OPERANDS_ANY = 1 << 20 };

struct cli_command {
    const char *name;
    const char *summary;      /* for the list of commands; begins with a verb */
    const char *const *usage; /* each line after "belljar NAME"; NULL-terminated */
    const char *description;  /* paragraphs, with an empty line between them */
    const struct arg_row *rows;
    size_t n_rows;
    size_t (*more_rows)(struct arg_row *out); /* rows from other tables; returns their number */
    const struct verb *verbs;
    size_t n_verbs;
    size_t max_operands;
    struct arg_values values;         /* of the operands */
    void (*sections)(struct page *p); /* further sections of --help and the man page */
    const char *const *statuses;      /* pairs: exit status, meaning; NULL-terminated */
    bool exits_by_verdict;            /* the exit status is that of the run */
    const char *const *examples;      /* pairs: purpose, command line; NULL-terminated */
    bool arguments_follow;            /* words after -- are not for us */
    size_t options_size;              /* of the struct that the rows fill; it begins zeroed */
    void (*init)(void *options);      /* sets defaults that are not zero */
    void (*done)(void *options);
    /* argv has argc operands. Exit status, or -1. With arguments_follow, argv[argc] is "--" or
     * NULL. */
    int (*run)(void *options, int argc, char **argv, struct err *e);
};

/* Parses the command line, and then prints the help or runs the command. argv[0] is the name of the
 * command. Returns the exit status; an error has been printed. */
int command_run(const struct cli_command *c, int argc, char **argv);

/* Every option, with --help as the last. Returns their number, at most ARGS_ROWS_MAX. */
size_t command_rows(const struct cli_command *c, struct arg_row out[ARGS_ROWS_MAX]);

/* Fills *options. Sets *ret_help if the caller asked for help. The operands are argv[*ret_first]
 * and up; options may stand before and behind them. */
[[nodiscard]] int args_parse(const struct cli_command *c, int argc, char **argv, void *options,
                             int *ret_first, bool *ret_help, struct err *e);

/* A whole number from 1 to max. */
[[nodiscard]] int args_count(const struct arg_row *row, const char *text, unsigned max,
                             unsigned *ret, struct err *e);

/* A const struct language * at the offset of the row. */
arg_apply args_language;
arg_word_at args_language_at;
