/* diagnose/node/node.h — what the rules for JavaScript share; TypeScript's errors at run time are these too. Private to this room. */
#pragma once

#include "diagnose/core/advice.h"

bool node_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
/* node_tests.c: what runners of tests print. */
bool node_tests_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
/* The category of a class or code of Node's. False: it has none. */
bool node_categorise(struct diagnosis *d, struct piece name);
void node_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);

/* What a rule sees. */
struct js {
    struct diagnoser *g;
    const struct diagnose_input *in;
    struct diagnosis *d;
    struct piece message, line; /* the line of the source, at the location; at NULL: not known */
    const struct source_file *file; /* of the location; NULL */
    struct match m;                 /* what the row's pattern found in the message */
};
struct js_rule {
    const char *type; /* NULL: any */
    const char *pattern;
    void (*advise)(struct js *j); /* NULL: the words are the same each time */
    unsigned rule;
    double confidence;
    const char *text; /* see say() */
};
extern const struct js_rule js_object_rules[], js_name_rules[],
    js_syntax_rules[]; /* each ends with a row without a pattern */
extern const char *const js_globals[];
/* The last line above the location that gives the name a value. */
bool js_assigned(struct js *j, struct piece name, struct piece *ret_value, uint32_t *ret_line);
/* Whether the code calls, without await, a function that the program declares async. */
bool js_forgotten_await(struct js *j, struct piece code, struct piece *ret_name);
void js_say_await(struct js *j, unsigned rule, struct piece name, uint32_t line);

/* Where the bracket opened that is not closed in a program with C's brackets, quotes and comments; 0: all are closed. */
uint32_t unclosed_bracket(const struct source_file *f, char *ret_bracket);
#define P(piece) (int)(piece).len, (piece).at
