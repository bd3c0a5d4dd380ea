/* runtime/python/value_arrays.c — arrays of NumPy and tables of pandas: shape, types and the first
 * elements, without code of these packages that is written in Python (values.h). */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "runtime/python/values.h"

enum { ELEMENTS_SHOWN = 6, ROWS_SHOWN = 3, COLUMNS_SHOWN = 24, BLOCKS_SEEN = 200, NAME_SHOWN = 40 };

/* The names of types that these C libraries define begin so. */
#define NUMPY  "numpy."
#define PANDAS "pandas._libs."

/* An attribute that the object stores itself or in a C structure. A new reference; NULL: neither. */
static PyObject *field(PyObject *o, const char *library, const char *name)
{
    PyObject *slot = value_slot(o, library, name);
    if (slot)
        return slot;
    PyObject *text = PyUnicode_FromString(name);
    PyObject *found = text ? value_attribute(o, text) : NULL;
    PyErr_Clear();
    Py_XINCREF(found);
    Py_XDECREF(text);
    return found;
}

static PyTypeObject *array_type(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    while (type &&
           (type->tp_flags & Py_TPFLAGS_HEAPTYPE || strcmp(type->tp_name, "numpy.ndarray") != 0))
        type = type->tp_base;
    return type;
}

bool value_is_array(PyObject *o)
{
    return array_type(o) != NULL;
}

/* ---- arrays ---- */

/* "int64", "str8", "object". kind: NumPy's letter. */
struct element {
    char kind;
    Py_ssize_t size;
};

static struct element element_of(PyObject *array)
{
    struct element e = { 0 };
    PyObject *dtype = value_slot(array, NUMPY, "dtype");
    PyObject *kind = dtype ? value_slot(dtype, NUMPY, "kind") : NULL;
    PyObject *size = dtype ? value_slot(dtype, NUMPY, "itemsize") : NULL;
    if (kind && size && PyUnicode_CheckExact(kind) && PyUnicode_GET_LENGTH(kind) == 1 &&
        PyLong_CheckExact(size))
        e = (struct element){ (char)PyUnicode_READ_CHAR(kind, 0), PyLong_AsSsize_t(size) };
    PyErr_Clear();
    Py_XDECREF(size);
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    return e;
}

static void add_dtype(struct value_text *t, struct element e)
{
    static const struct {
        char kind;
        const char *name;
        int per; /* bytes that count as one; 0: the size is not told */
        int times;
    } rows[] = {
        { 'b', "bool", 0, 0 },       { 'i', "int", 1, 8 },         { 'u', "uint", 1, 8 },
        { 'f', "float", 1, 8 },      { 'c', "complex", 1, 8 },     { 'O', "object", 0, 0 },
        { 'S', "bytes", 1, 1 },      { 'U', "str", 4, 1 },         { 'V', "void", 1, 8 },
        { 'M', "datetime64", 0, 0 }, { 'm', "timedelta64", 0, 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].kind == e.kind && rows[i].per == 0)
            value_add(t, "%s", rows[i].name);
        else if (rows[i].kind == e.kind)
            value_add(t, "%s%zd", rows[i].name, e.size / rows[i].per * rows[i].times);
}

#define READ(type)                          \
    do {                                    \
        type number;                        \
        memcpy(&number, at, sizeof number); \
        value = (double)number;             \
    } while (0)

/* false: its elements are not shown. */
static bool add_number(struct value_text *t, const char *at, struct element e)
{
    double value = 0;
    int64_t whole = 0;
    if (e.kind == 'f' && e.size == 8)
        READ(double);
    else if (e.kind == 'f' && e.size == 4)
        READ(float);
    else if ((e.kind == 'i' || e.kind == 'u') && e.size <= 8)
        memcpy(&whole, at, (size_t)e.size); /* little endian, as this machine */
    else if (e.kind == 'b')
        whole = *at != 0;
    else
        return false;
    if (e.kind == 'i' && e.size < 8 && whole >> (8 * e.size - 1))
        whole -= (int64_t)1 << (8 * e.size);
    if (e.kind == 'f')
        value_add(t, "%.6g", value);
    else if (e.kind == 'b')
        value_add(t, whole ? "True" : "False");
    else if (e.kind == 'u')
        value_add(t, "%llu", (unsigned long long)whole);
    else
        value_add(t, "%lld", (long long)whole);
    return true;
}

static void add_object(struct value_text *t, PyObject *o)
{
    if (o)
        value_add_short(t, o);
    else
        value_add(t, "None");
}

/* The elements along one axis, and of the axes after it. */
static bool add_axis(struct value_text *t, const Py_buffer *v, int axis, const char *at,
                     struct element e)
{
    Py_ssize_t n = v->shape[axis], max = axis + 1 < v->ndim ? ROWS_SHOWN : ELEMENTS_SHOWN;
    value_add(t, "[");
    for (Py_ssize_t i = 0; i < n && i < max; i++) {
        const char *element = at + i * v->strides[axis];
        value_add(t, i > 0 ? ", " : "");
        if (axis + 1 < v->ndim ? !add_axis(t, v, axis + 1, element, e)
            : e.kind == 'O'    ? (add_object(t, *(PyObject *const *)element), false)
                               : !add_number(t, element, e))
            return e.kind == 'O';
    }
    value_add(t, n > max ? ", …]" : "]");
    t->cut = t->cut || n > max;
    return true;
}

/* Of the C type: a class that is derived from it cannot replace its function. */
static bool open_array(PyObject *array, Py_buffer *ret)
{
    const PyTypeObject *type = array_type(array);
    if (!type || !type->tp_as_buffer || !type->tp_as_buffer->bf_getbuffer ||
        type->tp_as_buffer->bf_getbuffer(array, ret, PyBUF_STRIDED_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    return true;
}

static void add_elements(struct value_text *t, PyObject *array)
{
    Py_buffer v;
    struct element e = element_of(array);
    struct value_text before = *t;
    if (e.size <= 0 || strchr("MmVSUc", e.kind) || !open_array(array, &v))
        return;
    if (v.ndim < 1 || v.ndim > 2 || !v.shape || !v.strides ||
        !add_axis(t, &v, 0, (const char *)v.buf, e))
        *t = before;
    PyBuffer_Release(&v);
}

static void add_shape(struct value_text *t, PyObject *array)
{
    PyObject *shape = value_slot(array, NUMPY, "shape");
    Py_ssize_t n = shape && PyTuple_CheckExact(shape) ? PyTuple_GET_SIZE(shape) : 0;
    for (Py_ssize_t i = 0; i < n && i < 8; i++)
        value_add(t, i > 0 ? " %zd" : "%zd", PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i)));
    PyErr_Clear();
    Py_XDECREF(shape);
}

static void describe_array(PyObject *o, struct value_array *ret)
{
    add_shape(&ret->shape, o);
    add_dtype(&ret->dtype, element_of(o));
    add_elements(&ret->preview, o);
}

/* ---- tables ---- */

static PyObject *manager_of(PyObject *o)
{
    bool library = Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE && !PyType_Check(o) &&
                   !PyModule_Check(o);
    return library ? field(o, PANDAS, "_mgr") : NULL;
}

bool value_is_table(PyObject *o)
{
    PyObject *manager = manager_of(o);
    PyObject *axes = manager ? field(manager, PANDAS, "axes") : NULL;
    bool is = axes && PyList_CheckExact(axes) && PyList_GET_SIZE(axes) > 0 &&
              PyList_GET_SIZE(axes) <= 2;
    Py_XDECREF(axes);
    Py_XDECREF(manager);
    return is;
}

/* The length of an index; -1: not known. */
static Py_ssize_t length_of(PyObject *index)
{
    Py_ssize_t n = -1;
    PyObject *range = field(index, PANDAS, "_range");
    PyObject *data = range ? NULL : field(index, PANDAS, "_data");
    PyObject *inner = data && !value_is_array(data) ? field(data, PANDAS, "_ndarray") : NULL;
    PyObject *array = inner ? inner : data;
    if (range && Py_IS_TYPE(range, &PyRange_Type))
        n = PySequence_Size(range);
    else if (array && value_is_array(array)) {
        PyObject *shape = value_slot(array, NUMPY, "shape");
        if (shape && PyTuple_CheckExact(shape) && PyTuple_GET_SIZE(shape) == 1)
            n = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, 0));
        Py_XDECREF(shape);
    }
    PyErr_Clear();
    Py_XDECREF(inner);
    Py_XDECREF(data);
    Py_XDECREF(range);
    return n;
}

/* The type of the elements of a block of columns. */
static void add_block_type(struct value_text *t, PyObject *values)
{
    PyObject *inner = value_is_array(values) ? NULL : field(values, PANDAS, "_ndarray");
    const char *name = Py_TYPE(values)->tp_name;
    if (value_is_array(values))
        add_dtype(t, element_of(values));
    else if (inner && value_is_array(inner) && strchr("Mm", element_of(inner).kind))
        add_dtype(t, element_of(inner));
    else
        value_add_bytes(t, name, strnlen(name, NAME_SHOWN));
    Py_XDECREF(inner);
}

/* For each of the first columns the number of its block; -1: not known. */
static void find_blocks(PyObject *blocks, int ret[COLUMNS_SHOWN])
{
    for (int i = 0; i < COLUMNS_SHOWN; i++)
        ret[i] = -1;
    for (int b = 0; b < PyTuple_GET_SIZE(blocks) && b < BLOCKS_SEEN; b++) {
        Py_ssize_t from, to, step;
        PyObject *placement = value_slot(PyTuple_GET_ITEM(blocks, b), PANDAS, "_mgr_locs");
        PyObject *at = placement ? value_slot(placement, PANDAS, "indexer") : NULL;
        Py_buffer v;
        if (at && PySlice_Check(at) && PySlice_Unpack(at, &from, &to, &step) == 0) {
            for (Py_ssize_t i = from; step > 0 && i < to && i < COLUMNS_SHOWN; i += step)
                ret[i >= 0 ? i : 0] = b;
        } else if (at && value_is_array(at) && element_of(at).size == 8 && open_array(at, &v)) {
            for (Py_ssize_t k = 0; v.ndim == 1 && k < v.shape[0] && k < BLOCKS_SEEN; k++) {
                int64_t i;
                memcpy(&i, (const char *)v.buf + k * v.strides[0], sizeof i);
                if (i >= 0 && i < COLUMNS_SHOWN)
                    ret[i] = b;
            }
            PyBuffer_Release(&v);
        }
        PyErr_Clear();
        Py_XDECREF(at);
        Py_XDECREF(placement);
    }
}

static void add_column(struct value_text *t, const Py_buffer *names, Py_ssize_t i, PyObject *blocks,
                       int block)
{
    PyObject *name = names ? *(PyObject *const *)((const char *)names->buf + i * names->strides[0])
                           : NULL;
    PyObject *values = block >= 0 ? value_slot(PyTuple_GET_ITEM(blocks, block), PANDAS, "values")
                                  : NULL;
    value_add(t, i > 0 ? ", " : "");
    if (name && PyUnicode_CheckExact(name))
        value_add_str(t, name, NAME_SHOWN);
    else if (name)
        value_add_short(t, name);
    else
        value_add(t, "%zd", i);
    value_add(t, " ");
    if (values)
        add_block_type(t, values);
    Py_XDECREF(values);
}

/* "price int64, name object, …" */
static void add_columns(struct value_text *t, PyObject *index, PyObject *blocks, Py_ssize_t n)
{
    int block[COLUMNS_SHOWN];
    Py_buffer v;
    PyObject *data = field(index, PANDAS, "_data");
    bool named = data && value_is_array(data) && element_of(data).kind == 'O' &&
                 open_array(data, &v);
    find_blocks(blocks, block);
    for (Py_ssize_t i = 0; i < n && i < COLUMNS_SHOWN && (!named || i < v.shape[0]); i++)
        add_column(t, named ? &v : NULL, i, blocks, block[i]);
    if (n > COLUMNS_SHOWN) {
        value_add(t, ", …");
        t->cut = true;
    }
    if (named)
        PyBuffer_Release(&v);
    Py_XDECREF(data);
}

static void describe_series(PyObject *o, PyObject *blocks, struct value_array *ret)
{
    PyObject *name = field(o, PANDAS, "_name");
    PyObject *values = PyTuple_GET_SIZE(blocks) == 1
                           ? value_slot(PyTuple_GET_ITEM(blocks, 0), PANDAS, "values")
                           : NULL;
    if (values)
        add_block_type(&ret->dtype, values);
    if (values && value_is_array(values) && !(name && value_is_secret(name)))
        add_elements(&ret->preview, values);
    Py_XDECREF(values);
    Py_XDECREF(name);
}

/* pandas keeps the axes of a table in the order columns, rows. */
static void describe_table(PyObject *o, struct value_array *ret)
{
    PyObject *manager = manager_of(o);
    PyObject *axes = manager ? field(manager, PANDAS, "axes") : NULL;
    PyObject *blocks = manager ? field(manager, PANDAS, "blocks") : NULL;
    Py_ssize_t n = axes && PyList_CheckExact(axes) ? PyList_GET_SIZE(axes) : 0;
    for (Py_ssize_t i = n; i > 0; i--)
        value_add(&ret->shape, i < n ? " %zd" : "%zd", length_of(PyList_GET_ITEM(axes, i - 1)));
    if (strchr(ret->shape_text, '-'))
        ret->shape_text[0] = '\0'; /* an axis whose length is not known */
    if (blocks && PyTuple_CheckExact(blocks) && n == 2)
        add_columns(&ret->preview, PyList_GET_ITEM(axes, 0), blocks,
                    length_of(PyList_GET_ITEM(axes, 0)));
    else if (blocks && PyTuple_CheckExact(blocks) && n == 1)
        describe_series(o, blocks, ret);
    Py_XDECREF(blocks);
    Py_XDECREF(axes);
    Py_XDECREF(manager);
}

bool value_describe_array(PyObject *o, struct value_array *ret)
{
    bool array = value_is_array(o);
    *ret = (struct value_array){ 0 };
    ret->shape = (struct value_text){ ret->shape_text, ret->shape_text + sizeof ret->shape_text,
                                      false, false };
    ret->dtype = (struct value_text){ ret->dtype_text, ret->dtype_text + sizeof ret->dtype_text,
                                      false, false };
    ret->preview = (struct value_text){ ret->preview_text,
                                        ret->preview_text + sizeof ret->preview_text, false,
                                        false };
    if (array)
        describe_array(o, ret);
    else if (value_is_table(o))
        describe_table(o, ret);
    else
        return false;
    return true;
}
