/* diagnose/node/node.h — shared by the files with the rules for JavaScript. TypeScript's errors at
 * run time are read and explained by the same code. Runs in: keeper. Private to this room. */
#pragma once

#include "diagnose/core/rules.h"

bool node_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
/* node_tests.c: the output of test runners. */
bool node_tests_read(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);
/* Sets the category of a class or code of Node's. False when it has none. */
bool node_categorise(struct diagnosis *d, struct piece name);
void node_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);

extern const struct rule js_object_rules[], js_name_rules[], js_syntax_rules[];
extern const char *const js_globals[];
/* The last line above the location that gives the name a value. */
bool js_assigned(const struct advice *a, struct piece name, struct piece *ret_value,
                 uint32_t *ret_line);
/* Whether the code calls, without await, a function that the program declares async. */
bool js_forgotten_await(const struct advice *a, struct piece code, struct piece *ret_name);
/* The line of the program's function of that name; 0 when there is none. *ret_file is its file. */
uint32_t js_function(const struct advice *a, struct piece name,
                     const struct source_file **ret_file);
/* Whether the function that begins at that line returns a value. *ret_alone becomes the line of a `return` without a
 * value that a value follows in the next line, or 0. */
bool js_returns(const struct advice *a, const struct source_file *f, uint32_t number,
                uint32_t *ret_alone);
void js_suggest_await(const struct advice *a, unsigned number, struct piece name, uint32_t line);

/* Suggestions by the shape of a line that cannot be read. False when there is none. */
bool js_advise_by_line(const struct advice *a);
/* The line of the bracket that is not closed, in a program with C's brackets, quotes and comments;
 * 0 when all are closed. */
uint32_t unclosed_bracket(const struct source_file *f, char *ret_bracket);
