/* runtime/python/value_read.c — reads objects as the interpreter stores them (values.h). */
#include <string.h>

#include "base/secret_name.h"
#include "runtime/python/values.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#define Py_BUILD_CORE 1
#include <internal/pycore_dict.h>
#include <internal/pycore_object.h>
#undef Py_BUILD_CORE
#pragma GCC diagnostic pop

enum { ENTRIES_SEEN = 20000, NAME_BYTES = 256 };

static bool is_text(PyObject *o)
{
    return o && PyUnicode_CheckExact(o) && PyUnicode_IS_READY(o);
}

static bool is_same(PyObject *key, PyObject *name)
{
    return key == name || (is_text(key) && PyUnicode_Compare(key, name) == 0);
}

/* A lookup by hash would call __eq__ of a key with the same hash. */
PyObject *value_in_dict(PyObject *dict, PyObject *name)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!dict || !PyDict_Check(dict))
        return NULL;
    for (int n = 0; n < ENTRIES_SEEN && PyDict_Next(dict, &at, &key, &value); n++)
        if (is_same(key, name))
            return value;
    return NULL;
}

/* The values of an object that has no dictionary yet, and their names. */
static PyDictValues *inline_values(PyObject *o, PyDictKeysObject **ret_keys)
{
    PyTypeObject *type = Py_TYPE(o);
    if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT))
        return NULL;
    *ret_keys = ((PyHeapTypeObject *)type)->ht_cached_keys;
    return *ret_keys && DK_IS_UNICODE(*ret_keys) ? *_PyObject_ValuesPointer(o) : NULL;
}

static PyObject *dict_of(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT)
        return *_PyObject_ManagedDictPointer(o);
    if (PyType_Check(o) || type->tp_dictoffset <= 0)
        return NULL;
    PyObject *dict = *(PyObject **)((char *)o + type->tp_dictoffset);
    return dict && PyDict_Check(dict) ? dict : NULL;
}

size_t value_each_attribute(PyObject *o, size_t max, value_visitor *visit, void *context)
{
    PyDictKeysObject *keys;
    PyDictValues *values = inline_values(o, &keys);
    PyObject *dict = values ? NULL : dict_of(o), *key, *value;
    size_t n = 0;
    for (Py_ssize_t i = 0; values && i < keys->dk_nentries; i++) {
        PyObject *name = DK_UNICODE_ENTRIES(keys)[i].me_key;
        if (!name || !values->values[i])
            continue;
        if (n++ < max)
            visit(context, name, values->values[i]);
    }
    for (Py_ssize_t at = 0; dict && PyDict_Next(dict, &at, &key, &value);)
        if (is_text(key) && n++ < max)
            visit(context, key, value);
        else if (n > max + ENTRIES_SEEN)
            break;
    return n;
}

struct search {
    PyObject *name, *found;
};

static void look(void *context, PyObject *name, PyObject *value)
{
    struct search *s = context;
    if (!s->found && is_same(name, s->name))
        s->found = value;
}

/* In the classes of the object. */
static PyObject *class_attribute(PyTypeObject *type, PyObject *name)
{
    PyObject *found = NULL;
    for (Py_ssize_t i = 0; !found && type->tp_mro && i < PyTuple_GET_SIZE(type->tp_mro); i++) {
        PyObject *base = PyTuple_GET_ITEM(type->tp_mro, i);
        if (PyType_Check(base))
            found = value_in_dict(((PyTypeObject *)base)->tp_dict, name);
    }
    return found;
}

/* A property comes before an attribute of the object itself. It is code, and is not called. */
PyObject *value_attribute(PyObject *o, PyObject *name)
{
    if (PyModule_Check(o))
        return value_in_dict(PyModule_GetDict(o), name);
    PyObject *of_class = class_attribute(Py_TYPE(o), name);
    if (of_class && Py_TYPE(of_class)->tp_descr_set)
        return NULL;
    struct search s = { .name = name };
    (void)value_each_attribute(o, ENTRIES_SEEN, look, &s);
    if (s.found)
        return s.found;
    return of_class && !Py_TYPE(of_class)->tp_descr_get ? of_class : NULL;
}

PyObject *value_slot(PyObject *o, const char *library, const char *name)
{
    PyObject *key, *descriptor, *mro = Py_TYPE(o)->tp_mro;
    for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        if (!PyType_Check((PyObject *)base) || base->tp_flags & Py_TPFLAGS_HEAPTYPE ||
            strncmp(base->tp_name, library, strlen(library)) != 0)
            continue;
        for (Py_ssize_t at = 0; PyDict_Next(base->tp_dict, &at, &key, &descriptor);) {
            if (!is_text(key) || PyUnicode_CompareWithASCIIString(key, name) != 0 ||
                !(Py_IS_TYPE(descriptor, &PyGetSetDescr_Type) ||
                  Py_IS_TYPE(descriptor, &PyMemberDescr_Type)))
                continue;
            PyObject *value = Py_TYPE(descriptor)
                                  ->tp_descr_get(descriptor, o, (PyObject *)Py_TYPE(o));
            if (!value)
                PyErr_Clear();
            return value;
        }
    }
    return NULL;
}

bool value_is_secret(PyObject *name)
{
    char bytes[NAME_BYTES];
    if (!is_text(name))
        return false;
    Py_ssize_t n = PyUnicode_GET_LENGTH(name);
    size_t len = 0;
    for (Py_ssize_t i = n > NAME_BYTES ? n - NAME_BYTES : 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(name, i);
        bytes[len++] = c < 128 ? (char)c : '?';
    }
    return secret_name(bytes, len);
}
