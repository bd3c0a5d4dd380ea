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

extern const struct rule js_object_rules[], js_value_rules[], js_name_rules[], js_syntax_rules[],
    js_api_rules[];
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

/* Whether the program declares the function as async; as an async generator with `generator`. */
bool js_is_async(const struct advice *a, struct piece name, bool generator);
/* Whether the code calls an async generator of the program's. */
bool js_async_generator(const struct advice *a, struct piece code, struct piece *ret_name);
/* The kind of a value that is written out: "Map", "array", "text", ...; "" when it is not known. */
const char *js_kind_of(const struct advice *a, struct piece value);
void js_suggest_for_await(const struct advice *a, struct piece name);

/* node_origin.c: where a value comes from. */
/* The class of collections (Map, Set, Date, ...) that a line gives the name; NO_PIECE when none does. */
struct piece js_collection(const struct advice *a, struct piece name, uint32_t *ret_line);
/* The loop or callback near the location that gives the name its values. */
struct js_origin {
    struct piece by, from; /* "of", "in", "map", "reduce", ...; the values */
    uint32_t line;
};
bool js_declared_by(const struct advice *a, struct piece name, struct js_origin *ret);
/* Whether the value is a list of promises: items.map(async ...). */
bool js_promises(const struct advice *a, struct piece value, struct piece *ret_function);
/* These add a suggestion and return true when the program shows the reason. */
bool js_callback_returns_nothing(const struct advice *a, struct piece value, uint32_t line);
bool js_map_used_as_object(const struct advice *a, struct piece code, uint32_t line);
bool js_explain_this(const struct advice *a);
bool js_explain_origin(const struct advice *a, struct piece before, struct piece property);

/* node_members.c: calls of values that are no functions. */
struct piece js_class_of(const struct advice *a, struct piece name, uint32_t *ret_line);
bool js_value_is_called(const struct advice *a, struct piece owner, struct piece name);
bool js_function_is_not_called(const struct advice *a, struct piece owner, struct piece name);
bool js_wrong_function_of_module(const struct advice *a, struct piece owner, struct piece name);
bool js_wrong_import(const struct advice *a, struct piece name, bool as_class);
bool js_no_such_method(const struct advice *a, struct piece owner, struct piece name);
bool js_item_is_called(const struct advice *a, struct piece owner, struct piece key);
/* The names that a module of Node's exports, as far as they are known. */
void js_try_module(struct piece module, struct similar *s);
bool js_is_set_below(const struct advice *a, struct piece name);
bool js_parameter_hides(const struct advice *a, struct piece name);

/* Suggestions by the shape of a line that cannot be read. False when there is none. */
bool js_advise_by_line(const struct advice *a);
/* The line of the bracket that is not closed, in a program with C's brackets, quotes and comments;
 * 0 when all are closed. */
uint32_t unclosed_bracket(const struct source_file *f, char *ret_bracket);
