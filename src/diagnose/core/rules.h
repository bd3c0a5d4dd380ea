/* diagnose/core/rules.h — tables of rules: which message gets which category and which suggestion.
 * Runs in: keeper. Private to this room.
 *
 * RULES-1 Every language's rules are tables of `struct rule`, made from *.rules files; rules_apply(),
 *         rules_apply_to_line() and classify() are the only functions that walk them. */
#pragma once

#include "diagnose/core/grammar.h"

/* The error that a rule is asked about, and the diagnosis that the rule adds to. */
struct advice {
    struct diagnoser *g;
    const struct diagnose_input *in;
    struct diagnosis *d;
    struct piece type, message;
    struct piece line;              /* the source line at the location, or NO_PIECE */
    const struct source_file *file; /* the file of the location, or NULL */
    const struct rule *rule;        /* the rule that fits, */
    struct match m;                 /* and the groups that its pattern found */
    char type_text[128], message_text[1024];
};

/* One kind of error. */
struct rule {
    /* The type of error that the rule is for, or "" for any; the pattern then sees the message
     * alone.
     * NULL: the pattern sees "TYPE: MESSAGE", or the message of an error without a type. */
    const char *type;
    const char *pattern; /* NULL ends the table */
    enum category category;
    unsigned number; /* in README.md; 0 when it is not among the errors there */
    double confidence;
    /* {1} to {9} stand for the groups of the pattern. NULL: there is nothing to say. */
    const char *text, *replacement;
    const char *docs; /* may be NULL */
    /* Adds suggestions that depend on more than the message. When it adds none, `text` is used. May
     * be NULL. */
    void (*advise)(const struct advice *a);
    const char *const *names; /* for `advise`: names to choose from besides the sources' */
};

/* The error in d becomes the error that rules are asked about. */
void advice_begin(struct advice *a, struct diagnoser *g, const struct diagnose_input *in,
                  struct diagnosis *d);
/* When a limit ended the run, the program's own error, which is the first cause, takes its
 * place. */
void advice_use_own_error(struct advice *a);

enum rules_wanted {
    FIRST_RULE, /* the first that fits decides */
    EVERY_RULE, /* each that fits may add a suggestion */
};
void rules_apply(struct advice *a, const struct rule *rules, enum rules_wanted wanted);
/* The first rule decides whose pattern fits the source line, and whose match begins in code. False when
 * none does. */
bool rules_apply_to_line(const struct advice *a, const struct rule *rules,
                         bool (*is_code)(struct piece line, size_t place));
/* advice_begin() and rules_apply() with the first rule that fits, for a language with one table. */
void advise_by(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
               const struct rule *rules);
/* Sets the category of d by the first rule that fits. False, and nothing changes, when none
 * does. */
bool classify(struct diagnoser *g, struct diagnosis *d, const struct rule *rules);

/* For a program that ended itself with a status: "exit N" becomes the type and the text the
 * message. False, and nothing changes, unless the caller knows the text (`known`) or a rule fits
 * it. */
bool read_exit(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
               struct piece text, bool known, const struct rule *rules);

/* For rows: the name in the first group is not known. Offers a similar name of the sources, or of
 * rule->names. */
void advise_nearest(const struct advice *a);
/* The name is one of another language's: offers the name of this one. */
bool advise_own_name(const struct advice *a, const char *language, struct piece name,
                     const struct word_pair *foreign);
/* The line at the location, or one of the few above it, that has the pattern; 0 when none has. */
uint32_t line_above_with(const struct advice *a, const char *pattern, struct match *ret);
/* For rows: a statement has no end. Offers the line at the location with ';'. */
void advise_semicolon(const struct advice *a);
/* For rows: a statement stands where only declarations may. Names the brace that closed too
 * early, when the braces of the file show one. */
void advise_outside(const struct advice *a);
/* For rows: a brace has no partner. Names the line where it was opened. */
void advise_brace(const struct advice *a);
/* The location is a Markdown fence that was copied along with the code. False when it is not. */
bool advise_fence(const struct diagnose_input *in, struct diagnosis *d);
