/* runtime/python/values.h — the values of the variables at an error (spec/job.h: JOB_VALUES).
 * Runs in: a run's embryo, after the program has failed; nothing before.
 *
 * PYVALUES-1 No code of the program runs: no __repr__, no property, no __len__, no finaliser. Objects
 *            are read as the interpreter stores them, and through attributes that are C structures.
 * PYVALUES-2 Time and memory are bounded by counts, with any objects. No object is made that the
 *            garbage collector knows.
 * PYVALUES-3 The program sees nothing of it: the file is written after its last code has run.
 *
 * The file is the program's own word: the program can write to this memory, and to the file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "runtime/python/internals.h"

/* A text with a bound. The rest is left out, and `cut` says so. */
struct value_text {
    char *at, *end;
    bool cut, full;
};
[[gnu::format(printf, 2, 3)]] void value_add(struct value_text *t, const char *fmt, ...);
/* Bytes of the program: control characters become '?'. */
void value_add_bytes(struct value_text *t, const char *bytes, size_t n);
/* The characters of a str, with escapes. max: how many. */
void value_add_str(struct value_text *t, PyObject *str, Py_ssize_t max);

/* values.c: before the program begins, if its values are wanted. given: its slate, or NULL. */
void values_begin(char *given);
/* Keeps the values at the error that is set, before the error is printed. */
void values_note(void);
/* Without a slate: the file goes into this directory. */
void values_begin_in(const char *directory);
void values_note_traceback(PyObject *traceback);
/* For a session: the same about a traceback, as bytes. */
PyObject *values_of_traceback(PyObject *self, PyObject *traceback);
/* After the last code of the program: writes the file, if there is something to tell. */
void values_leave(void);

/* value_text.c: type, size, shape, dtype, flags and preview, with tabs between them. */
void value_describe(struct value_text *t, PyObject *o, bool secret);

/* The same without the head: a value in a list. */
void value_add_short(struct value_text *t, PyObject *o);

/* value_arrays.c: arrays of NumPy and tables of pandas. false: it is neither. */
struct value_array {
    struct value_text shape, dtype, preview;
    char shape_text[96], dtype_text[32], preview_text[360];
};
bool value_describe_array(PyObject *o, struct value_array *ret);
bool value_is_array(PyObject *o);
bool value_is_table(PyObject *o);

/* value_read.c: reads an object without its own code. Borrowed references; NULL: not there. */
PyObject *value_in_dict(PyObject *dict, PyObject *name);
PyObject *value_attribute(PyObject *o, PyObject *name);
/* An attribute in a C structure of a type whose name begins so; such a type is a library's. A new
 * reference. */
PyObject *value_slot(PyObject *o, const char *library, const char *name);
/* Calls back for each attribute that the object itself has, as far as `max`. */
typedef void value_visitor(void *context, PyObject *name, PyObject *value);
size_t value_each_attribute(PyObject *o, size_t max, value_visitor *visit, void *context);
/* Whether the name of a variable or a key is that of a secret (base/secret_name.h). */
bool value_is_secret(PyObject *name);
