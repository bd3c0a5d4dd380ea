/* diagnose/python/python.h — shared by the files with the rules for Python. Runs in: keeper.
 * Private to this room. */
#pragma once

#include "diagnose/core/rules.h"

/* Errors of the language itself. */
extern const struct rule py_name_rules[], py_variable_rules[], py_object_rules[], py_call_rules[],
    py_operand_rules[], py_value_rules[], py_syntax_rules[], py_io_rules[];
/* Messages of one meaning, which are asked before the others. */
extern const struct rule py_builtin_rules[];
/* Causes that the source or a value shows, which are asked before all others. */
extern const struct rule py_cause_rules[], py_design_rules[], py_usage_rules[];
/* Errors of libraries. They are asked first: the other rules know nothing of libraries. */
extern const struct rule py_library[];

enum category python_category(const char *type);
void python_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);

/* The last `name = value` above the location, or the last one in the file when there is none above.
 * False when there is none. */
bool py_assigned(const struct advice *a, struct piece name, struct piece *ret_value,
                 uint32_t *ret_line);
/* `def name(...)` or `class name`, with the whole line. False when the job does not define it. */
bool py_defined(const struct advice *a, struct piece name, struct piece *ret_line,
                uint32_t *ret_number, const struct source_file **ret_file);
/* The function or class in which a line stands; zero at the top of the file. */
struct py_scope {
    uint32_t line;
    struct piece head, name; /* "def f(x):", and its name */
};
struct py_scope py_scope_of(const struct advice *a, uint32_t number);
bool py_in_class(struct py_scope scope); /* the line stands in a class, and in no method of it */
/* The line's variables are known at the location: it is in the same function, or at the top. */
bool py_can_see(const struct advice *a, uint32_t number);
/* Names that a line of the file defines: variables, parameters, functions, imports. */
void py_try_names(const struct advice *a, struct similar *s);
/* Attributes and methods that the class of the program, or one of its base classes, defines. */
void py_try_members(const struct advice *a, struct piece class, struct similar *s);
/* The first line where the first group of the pattern is the name; 0 when there is none. */
uint32_t py_line_with(const struct advice *a, const char *pattern, struct piece name);
/* Suggestions by the shape of the line. False when there is none. */
bool py_advise_by_line(const struct advice *a);
/* The hint that Python gives itself: "Did you mean: 'x'?". */
bool py_hint(const struct advice *a, struct piece *ret);
/* The library raised the error: a frame outside of the job's files has the text in its path. */
bool py_passed_through(const struct advice *a, const char *path);
/* The number of items in a list, tuple or string that is written out; -1 when it is not known. */
long py_items(struct piece literal);
/* A key of an Enum that is no member; a key that cannot be removed because it is not there. False when the
 * line is neither. */
bool py_advise_member(const struct advice *a, struct piece key);
bool py_advise_removal(const struct advice *a);
/* Suggests to await a coroutine. */
void py_not_awaited(const struct advice *a);
extern const char *const py_builtins[], *const py_stdlib[];
/* Whether it is a module of Python's standard library. */
bool py_is_stdlib(struct piece module);
/* The statement that imports a name: "import numpy as np"; NULL when it is not known. */
const char *py_import_for(struct piece name);

/* ---- values of variables (python_evidence.c) ---- */

/* The expression before the brackets that failed, "row" of row["x"]; NO_PIECE when it is not clear. */
struct piece py_container(const struct advice *a);
/* The preview of "row" or of "row["x"][0]"; NO_PIECE when the program told none. */
struct piece py_shown(const struct advice *a, struct piece expression);
/* At most `max` bytes of it, and no part of a character. */
struct piece py_short(struct piece p, size_t max);
/* The names of a piece of code, one after the other: "row", "self.rows". False at the end. */
bool py_next_name(struct piece *rest, struct piece *ret_name);
/* The first name in the failing line whose value has the type; NO_PIECE when none has, or none is
 * known. */
struct piece py_name_of_type(const struct advice *a, const char *type);
/* Suggestions by the keys that the dict really has, and by the length that the list really has. */
bool py_key_by_values(const struct advice *a, struct piece wanted);
/* Another line of the program has the key itself, so that it is no slip of the pen. */
bool py_key_elsewhere(const struct advice *a, struct piece key);
bool py_key_of_header(const struct advice *a, struct piece wanted);
bool py_say_keys(const struct advice *a, struct piece wanted);
bool py_index_by_values(const struct advice *a);

/* ---- where a value comes from (python_origin.c) ---- */

/* Suggests to convert a text of the failing line where it comes from: input(), argparse, csv... */
bool py_say_text_origin(const struct advice *a, unsigned number);
/* Names the division that made a float of the failing line. */
bool py_say_division(const struct advice *a, unsigned number);
/* Names the line whose comma makes a tuple of one value. */
bool py_say_comma(const struct advice *a);
/* Names the line that has taken all items of an iterator or file of the failing line. */
bool py_say_used_up(const struct advice *a);
/* Names the function that gave a list where one value is meant. */
bool py_say_list_origin(const struct advice *a, unsigned number);
/* The error was raised in a file that is not the job's. */
bool py_in_library(const struct advice *a);

/* ---- dates (python_dates.c) ---- */

/* strptime(): the groups of the rule are the text and the format, or the rest of the text. */
void py_date_form(const struct advice *a);
void py_date_rest(const struct advice *a);
