/* runtime/python/value_text.c — a value in some words: its type, its size, and a preview (values.h). */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "runtime/python/values.h"

#include <datetime.h> /* needs the headers of values.h */

enum {
    PREVIEW_MAX = 360, /* bytes */
    TYPE_MAX = 72,
    STRING_SHOWN = 160, /* characters */
    STRING_INSIDE = 48, /* in a list or an object */
    ITEMS_SHOWN = 6,
    DEEP = 2,       /* lists in lists */
    INT_BITS = 384, /* the digits of a larger number take quadratic time */
};

/* ---- bounded text ---- */

void value_add(struct value_text *t, const char *fmt, ...)
{
    va_list args;
    size_t room = (size_t)(t->end - t->at);
    if (t->full)
        return;
    va_start(args, fmt);
    int n = vsnprintf(t->at, room, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= room) {
        t->cut = t->full = true;
        *t->at = '\0';
        return;
    }
    t->at += n;
}

void value_add_bytes(struct value_text *t, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && !t->full; i++) {
        if (t->end - t->at < 2) {
            t->cut = t->full = true;
            break;
        }
        unsigned char c = (unsigned char)bytes[i];
        *t->at++ = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    *t->at = '\0';
}

static void add_character(struct value_text *t, Py_UCS4 c)
{
    static const char *const escapes[] = { ['\t'] = "\\t", ['\n'] = "\\n", ['\r'] = "\\r" };
    if (c < ARRAY_LEN(escapes) && escapes[c])
        value_add(t, "%s", escapes[c]);
    else if (c == '\\' || c == '\'')
        value_add(t, "\\%c", (int)c);
    else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        value_add(t, "\\x%02x", (unsigned)c);
    else if (c < 0x80)
        value_add(t, "%c", (int)c);
    else if (c < 0x800)
        value_add(t, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
    else if (c >= 0xd800 && c < 0xe000)
        value_add(t, "\\u%04x", (unsigned)c);
    else if (c < 0x10000)
        value_add(t, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)),
                  (int)(0x80 | (c & 0x3f)));
    else
        value_add(t, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3f)),
                  (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
}

void value_add_str(struct value_text *t, PyObject *str, Py_ssize_t max)
{
    Py_ssize_t n = PyUnicode_IS_READY(str) ? PyUnicode_GET_LENGTH(str) : 0;
    for (Py_ssize_t i = 0; i < n && i < max; i++)
        add_character(t, PyUnicode_READ_CHAR(str, i));
    if (n > max) {
        value_add(t, "…");
        t->cut = true;
    }
}

/* ---- single values ---- */

struct view {
    struct value_text *t;
    int depth;
};

static void add_value(struct view v, PyObject *o);

static void add_str(struct view v, PyObject *o)
{
    value_add(v.t, "'");
    value_add_str(v.t, o, v.depth > 0 ? STRING_INSIDE : STRING_SHOWN);
    value_add(v.t, "'");
}

static void add_raw(struct view v, const char *bytes, Py_ssize_t n)
{
    Py_ssize_t max = v.depth > 0 ? STRING_INSIDE : STRING_SHOWN;
    value_add(v.t, "b'");
    for (Py_ssize_t i = 0; i < n && i < max; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < 0x80)
            add_character(v.t, c);
        else
            value_add(v.t, "\\x%02x", c);
    }
    value_add(v.t, n > max ? "'…" : "'");
    v.t->cut = v.t->cut || n > max;
}

static void add_bytes(struct view v, PyObject *o)
{
    add_raw(v, PyBytes_AS_STRING(o), PyBytes_GET_SIZE(o));
}

static void add_bytearray(struct view v, PyObject *o)
{
    add_raw(v, PyByteArray_AS_STRING(o), PyByteArray_GET_SIZE(o));
}

/* The text that a function of the interpreter itself makes. */
static void add_made(struct view v, PyObject *text)
{
    if (text && PyUnicode_CheckExact(text))
        value_add_str(v.t, text, STRING_SHOWN);
    else
        PyErr_Clear();
    Py_XDECREF(text);
}

static void add_int(struct view v, PyObject *o)
{
    size_t bits = _PyLong_NumBits(o);
    if (bits <= INT_BITS) {
        add_made(v, PyLong_Type.tp_repr(o));
        return;
    }
    v.t->cut = true;
    value_add(v.t, "a number of %.0f digits", floor((double)bits * 0.30103) + 1);
}

static void add_float(struct view v, PyObject *o)
{
    char *text = PyOS_double_to_string(PyFloat_AS_DOUBLE(o), 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (text)
        value_add(v.t, "%s", text);
    else
        PyErr_Clear();
    PyMem_Free(text);
}

static void add_bool(struct view v, PyObject *o)
{
    value_add(v.t, o == Py_True ? "True" : "False");
}

static void add_none(struct view v, PyObject *o)
{
    (void)o;
    value_add(v.t, "None");
}

static void add_by_type(struct view v, PyObject *o)
{
    add_made(v, Py_TYPE(o)->tp_repr(o));
}

static void add_date(struct view v, PyObject *o)
{
    value_add(v.t, "%04d-%02d-%02d", PyDateTime_GET_YEAR(o), PyDateTime_GET_MONTH(o),
              PyDateTime_GET_DAY(o));
}

static void add_datetime(struct view v, PyObject *o)
{
    add_date(v, o);
    value_add(v.t, " %02d:%02d:%02d", PyDateTime_DATE_GET_HOUR(o), PyDateTime_DATE_GET_MINUTE(o),
              PyDateTime_DATE_GET_SECOND(o));
    if (PyDateTime_DATE_GET_MICROSECOND(o))
        value_add(v.t, ".%06d", PyDateTime_DATE_GET_MICROSECOND(o));
    if (((_PyDateTime_BaseTZInfo *)o)->hastzinfo)
        value_add(v.t, " with a time zone");
}

static void add_timedelta(struct view v, PyObject *o)
{
    value_add(v.t, "%d days, %d s", PyDateTime_DELTA_GET_DAYS(o), PyDateTime_DELTA_GET_SECONDS(o));
    if (((PyDateTime_Delta *)o)->microseconds)
        value_add(v.t, ", %d µs", ((PyDateTime_Delta *)o)->microseconds);
}

static void add_class_name(struct view v, PyObject *o)
{
    const char *name = ((PyTypeObject *)o)->tp_name;
    value_add_bytes(v.t, name, strnlen(name, TYPE_MAX));
}

static void add_function_name(struct view v, PyObject *o)
{
    PyObject *name = ((PyFunctionObject *)o)->func_name;
    if (name && PyUnicode_Check(name))
        value_add_str(v.t, name, STRING_INSIDE);
}

/* ---- values with values in them ---- */

static void add_rest(struct view v, Py_ssize_t shown, Py_ssize_t all)
{
    if (shown < all) {
        value_add(v.t, shown > 0 ? ", …" : "…");
        v.t->cut = true;
    }
}

static Py_ssize_t most(struct view v, Py_ssize_t n)
{
    Py_ssize_t max = v.depth >= DEEP ? 0 : ITEMS_SHOWN;
    return n < max ? n : max;
}

static void add_items(struct view v, PyObject *const *items, Py_ssize_t n)
{
    struct view inner = { v.t, v.depth + 1 };
    for (Py_ssize_t i = 0; i < most(v, n); i++) {
        value_add(v.t, i > 0 ? ", " : "");
        add_value(inner, items[i]);
    }
    add_rest(v, most(v, n), n);
}

static void add_list(struct view v, PyObject *o)
{
    value_add(v.t, "[");
    add_items(v, ((PyListObject *)o)->ob_item, PyList_GET_SIZE(o));
    value_add(v.t, "]");
}

static void add_tuple(struct view v, PyObject *o)
{
    value_add(v.t, "(");
    add_items(v, ((PyTupleObject *)o)->ob_item, PyTuple_GET_SIZE(o));
    value_add(v.t, PyTuple_GET_SIZE(o) == 1 ? ",)" : ")");
}

static void add_set(struct view v, PyObject *o)
{
    struct view inner = { v.t, v.depth + 1 };
    PyObject *key;
    Py_hash_t hash;
    Py_ssize_t at = 0, n = PySet_GET_SIZE(o), i = 0;
    value_add(v.t, n > 0 ? "{" : "set(");
    for (; i < most(v, n) && _PySet_NextEntry(o, &at, &key, &hash); i++) {
        value_add(v.t, i > 0 ? ", " : "");
        add_value(inner, key);
    }
    add_rest(v, i, n);
    value_add(v.t, n > 0 ? "}" : ")");
}

static void add_pair(struct view v, PyObject *key, PyObject *value)
{
    if (value_is_secret(key))
        value_add(v.t, "(masked)");
    else
        add_value(v, value);
}

static void add_dict(struct view v, PyObject *o)
{
    struct view inner = { v.t, v.depth + 1 };
    PyObject *key, *value;
    Py_ssize_t at = 0, n = PyDict_GET_SIZE(o), i = 0;
    value_add(v.t, "{");
    for (; i < most(v, n) && PyDict_Next(o, &at, &key, &value); i++) {
        value_add(v.t, i > 0 ? ", " : "");
        add_value(inner, key);
        value_add(v.t, ": ");
        add_pair(inner, key, value);
    }
    add_rest(v, i, n);
    value_add(v.t, "}");
}

struct attributes {
    struct view v;
    size_t n;
};

static void add_attribute(void *context, PyObject *name, PyObject *value)
{
    struct attributes *a = context;
    value_add(a->v.t, a->n++ > 0 ? ", " : "");
    value_add_str(a->v.t, name, STRING_INSIDE);
    value_add(a->v.t, "=");
    add_pair(a->v, name, value);
}

static void add_type_name(struct value_text *t, PyObject *o)
{
    const char *name = Py_TYPE(o)->tp_name;
    value_add_bytes(t, name, strnlen(name, TYPE_MAX));
}

static void add_exception(struct view v, PyObject *o)
{
    PyObject *args = ((PyBaseExceptionObject *)o)->args;
    add_type_name(v.t, o);
    if (args && PyTuple_Check(args))
        add_tuple((struct view){ v.t, v.depth }, args);
}

static void add_object(struct view v, PyObject *o)
{
    struct attributes a = { .v = { v.t, v.depth + 1 } };
    add_type_name(v.t, o);
    value_add(v.t, "(");
    size_t all = value_each_attribute(o, (size_t)most(v, ITEMS_SHOWN), add_attribute, &a);
    add_rest(v, (Py_ssize_t)a.n, (Py_ssize_t)all);
    value_add(v.t, ")");
}

/* ---- which is which ---- */

static bool is_none(PyObject *o)
{
    return o == Py_None;
}

static bool is_class(PyObject *o)
{
    return PyType_Check(o);
}

#define IS(what, test)            \
    static bool what(PyObject *o) \
    {                             \
        return test(o);           \
    }
IS(is_bool, PyBool_Check)
IS(is_int, PyLong_Check)
IS(is_float, PyFloat_Check)
IS(is_str, PyUnicode_Check)
IS(is_bytes, PyBytes_Check)
IS(is_bytearray, PyByteArray_Check)
IS(is_list, PyList_Check)
IS(is_tuple, PyTuple_Check)
IS(is_dict, PyDict_Check)
IS(is_set, PyAnySet_Check)
IS(is_function, PyFunction_Check)
IS(is_exception, PyExceptionInstance_Check)

/* A type that a C library defined. A program cannot change it, nor define another of that name. */
static bool derives_from(PyObject *o, const char *name)
{
    for (const PyTypeObject *type = Py_TYPE(o); type; type = type->tp_base)
        if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) && strcmp(type->tp_name, name) == 0)
            return true;
    return false;
}

static bool is_datetime(PyObject *o)
{
    return derives_from(o, "datetime.datetime");
}

static bool is_date(PyObject *o)
{
    return derives_from(o, "datetime.date");
}

static bool is_timedelta(PyObject *o)
{
    return derives_from(o, "datetime.timedelta");
}

/* Types whose own text is made by C code, of parts that are no objects of the program. */
static bool is_plain(PyObject *o)
{
    static const char *const names[] = { "range", "decimal.Decimal", "complex" };
    if (Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(Py_TYPE(o)->tp_name, names[i]) == 0)
            return true;
    return false;
}

/* A number of NumPy. */
static bool is_scalar(PyObject *o)
{
    return derives_from(o, "numpy.integer") && Py_TYPE(o)->tp_as_number &&
           Py_TYPE(o)->tp_as_number->nb_index && !(Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

static void add_scalar(struct view v, PyObject *o)
{
    PyObject *number = Py_TYPE(o)->tp_as_number->nb_index(o);
    if (number && PyLong_CheckExact(number))
        add_int(v, number);
    PyErr_Clear();
    Py_XDECREF(number);
}

/* In a list. */
static bool is_array_or_table(PyObject *o)
{
    return value_is_array(o) || value_is_table(o);
}

static void add_type(struct view v, PyObject *o)
{
    add_type_name(v.t, o);
}

static bool has_attributes(PyObject *o)
{
    return Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE && !PyModule_Check(o);
}

static Py_ssize_t size_of_str(PyObject *o)
{
    return PyUnicode_IS_READY(o) ? PyUnicode_GET_LENGTH(o) : 0;
}

static Py_ssize_t size_of_var(PyObject *o)
{
    return Py_SIZE(o);
}

static Py_ssize_t size_of_dict(PyObject *o)
{
    return PyDict_GET_SIZE(o);
}

static Py_ssize_t size_of_set(PyObject *o)
{
    return PySet_GET_SIZE(o);
}

/* The first row that fits. A class that is derived from a built-in one is read as that. */
static const struct {
    bool (*is)(PyObject *);
    void (*add)(struct view, PyObject *);
    Py_ssize_t (*size)(PyObject *); /* NULL: it has none */
} rows[] = {
    { is_none, add_none, NULL },
    { is_bool, add_bool, NULL },
    { is_int, add_int, NULL },
    { is_float, add_float, NULL },
    { is_str, add_str, size_of_str },
    { is_bytes, add_bytes, size_of_var },
    { is_bytearray, add_bytearray, size_of_var },
    { is_list, add_list, size_of_var },
    { is_tuple, add_tuple, size_of_var },
    { is_dict, add_dict, size_of_dict },
    { is_set, add_set, size_of_set },
    { is_class, add_class_name, NULL },
    { is_function, add_function_name, NULL },
    { is_exception, add_exception, NULL },
    { is_datetime, add_datetime, NULL },
    { is_date, add_date, NULL },
    { is_timedelta, add_timedelta, NULL },
    { is_plain, add_by_type, NULL },
    { is_scalar, add_scalar, NULL },
    { is_array_or_table, add_type, NULL },
    { has_attributes, add_object, NULL },
};

static size_t row_of(PyObject *o)
{
    size_t i = 0;
    while (i < ARRAY_LEN(rows) && !rows[i].is(o))
        i++;
    return i;
}

static void add_value(struct view v, PyObject *o)
{
    size_t row = row_of(o);
    if (row < ARRAY_LEN(rows))
        rows[row].add(v, o);
    else if (v.depth > 0)
        add_type_name(v.t, o);
}

void value_add_short(struct value_text *t, PyObject *o)
{
    add_value((struct view){ t, 1 }, o);
}

static void describe_array(struct value_text *t, PyObject *o, const struct value_array *a,
                           bool secret)
{
    add_type_name(t, o);
    value_add(t, "\t\t%s\t%s\t%s%s\t", a->shape_text, a->dtype_text, secret ? "m" : "",
              a->preview.cut ? "c" : "");
    if (!secret)
        value_add_bytes(t, a->preview_text, strlen(a->preview_text));
}

void value_describe(struct value_text *t, PyObject *o, bool secret)
{
    struct value_array array;
    if (value_describe_array(o, &array)) {
        describe_array(t, o, &array, secret);
        return;
    }
    char preview[PREVIEW_MAX] = "";
    struct value_text p = { .at = preview, .end = preview + sizeof preview };
    size_t row = row_of(o);
    add_type_name(t, o);
    value_add(t, "\t");
    if (row < ARRAY_LEN(rows) && rows[row].size)
        value_add(t, "%zd", rows[row].size(o));
    if (!secret)
        add_value((struct view){ &p, 0 }, o);
    value_add(t, "\t\t\t%s%s\t", secret ? "m" : "", p.cut ? "c" : "");
    value_add_bytes(t, preview, strlen(preview));
}
