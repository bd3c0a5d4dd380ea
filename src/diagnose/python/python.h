/* diagnose/python/python.h — what the rules for Python share. Runs in: keeper. Private to this room. */
#pragma once

#include "diagnose/core/advice.h"

/* What a rule sees. */
struct py {
    struct diagnoser *g;
    const struct diagnose_input *in;
    struct diagnosis *d;
    struct piece type, message;
    struct piece line;              /* of the source, at the location; at NULL: not known */
    const struct source_file *file; /* of the location; NULL */
    struct match m;                 /* what the row's pattern found in the message */
};

/* A kind of error and what helps: the pattern is looked for in the message of errors of this type. */
struct py_rule {
    const char *type; /* NULL: any */
    const char *pattern;
    void (*advise)(struct py *p); /* NULL: the words are the same each time */
    unsigned rule;
    double confidence;
    const char *text; /* see say() */
};
extern const struct py_rule py_name_rules[], py_variable_rules[], py_object_rules[],
    py_call_rules[], py_value_rules[], py_syntax_rules[],
    py_io_rules[]; /* each ends with a row without a pattern */

/* What libraries say, in the form of advice.h; asked before the rules, which know nothing of libraries. */
extern const struct advice py_library[];

enum category python_category(const char *type);
void python_advise(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d);

/* The last `name = value` above the location (anywhere, when there is none above). False: none. */
bool py_assigned(struct py *p, struct piece name, struct piece *ret_value, uint32_t *ret_line);
/* `def name(...)` or `class name`, with the whole line. False: none. */
bool py_defined(struct py *p, struct piece name, struct piece *ret_line, uint32_t *ret_number,
                const struct source_file **ret_file);
/* The hint that Python gives itself: "Did you mean: 'x'?". */
bool py_hint(struct py *p, struct piece *ret);
/* How many items a list, tuple or string that is written out has; -1: not seen. */
long py_items(struct piece literal);
/* Says that a coroutine was not awaited. */
void py_not_awaited(struct py *p);
extern const char *const py_builtins[], *const py_stdlib[];
/* A module of Python's own library, or one that is known by name. */
bool py_is_stdlib(struct piece module);
/* The statement that brings a name in: "import numpy as np"; NULL: not known. */
const char *py_import_for(struct piece name);
#define P(piece) (int)(piece).len, (piece).at
