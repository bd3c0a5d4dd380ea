/* runtime/python/quiet.c — decides whether the program may end without destroying its objects. A
 * destruction can be noticed if it runs Python code, writes buffered bytes, or if a library of the
 * guest acts on it. So the end is quiet if no object of the guest has a finaliser left to run, if
 * no library that could act was loaded after the boot, and if nothing listens for the end itself.
 * The zygote's own objects are hidden (collector.c) and have no such effects. */
#include <link.h>
#include <string.h>

#include "base/array.h"
#include "runtime/python/internals.h"

/* False for extension modules that write something when their last object goes, and for every
 * library that does not belong to the interpreter, its dependencies, or the packages imported in
 * advance. */
static bool is_quiet_library(const char *path)
{
    static const char *const loud[] = { "/_sqlite3.", "/_gdbm.",    "/_dbm.", "/_curses",
                                        "/readline.", "/_tkinter.", NULL };
    static const char *const packages[] = { "/numpy/",      "/pandas/", "/scipy/",
                                            "/matplotlib/", "/PIL/",    NULL };
    if (strncmp(path, "/usr/lib/", 9) != 0 && strncmp(path, "/lib/", 5) != 0)
        return false;
    for (const char *const *name = loud; *name; name++)
        if (strstr(path, *name))
            return false;
    if (!strstr(path, "/dist-packages/"))
        return true;
    for (const char *const *name = packages; *name; name++)
        if (strstr(path, *name))
            return true;
    return false;
}

struct library_count {
    unsigned long long n, known;
    bool loud;
};

/* dl_iterate_phdr() reports libraries in the order in which they were loaded. */
static int look_at_library(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct library_count *l = context;
    l->n++;
    if (l->known && l->n > l->known && !is_quiet_library(info->dlpi_name))
        l->loud = true;
    return 0;
}

unsigned long long guest_libraries(void)
{
    struct library_count l = { 0 };
    (void)dl_iterate_phdr(look_at_library, &l);
    return l.n;
}

static bool libraries_are_quiet(const struct guest *g)
{
    struct library_count l = { .known = g->libraries };
    (void)dl_iterate_phdr(look_at_library, &l);
    return !l.loud;
}

static bool is_closed_file(PyObject *o)
{
    const char *name = Py_TYPE(o)->tp_name;
    static const char *const files[] = { "_io.FileIO", "_io.BufferedReader", "_io.BufferedWriter",
                                         "_io.BufferedRandom", "_io.TextIOWrapper" };
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        known = known || strcmp(name, files[i]) == 0;
    if (!known || Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return false;
    PyObject *closed = PyObject_GetAttrString(o, "closed");
    bool yes = closed == Py_True;
    Py_XDECREF(closed);
    PyErr_Clear();
    return yes;
}

/* In memory alone. */
static bool is_memory_file(PyObject *o)
{
    const char *name = Py_TYPE(o)->tp_name;
    return !(Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
           (strcmp(name, "_io.BytesIO") == 0 || strcmp(name, "_io.StringIO") == 0);
}

/* A suspended generator would be resumed to run its finally block. */
static bool is_idle_generator(PyObject *o)
{
    if (PyGen_CheckExact(o)) {
        int state = ((PyGenObject *)o)->gi_frame_state;
        return state >= FRAME_COMPLETED || state == FRAME_CREATED;
    }
    return (PyCoro_CheckExact(o) || PyAsyncGen_CheckExact(o)) &&
           ((PyCoroObject *)o)->cr_frame_state >= FRAME_COMPLETED;
}

/* Callbacks of the standard library's weak dictionaries and sets, and those written in C, only tidy
 * up. */
static bool is_idle_callback(const struct guest *g, PyObject *callback)
{
    if (!callback || PyCFunction_CheckExact(callback))
        return true;
    if (!PyFunction_Check(callback))
        return false;
    for (int i = 0; i < 3; i++)
        if (PyFunction_GET_GLOBALS(callback) == g->weakref_globals[i])
            return true;
    return false;
}

static bool speaks(const struct guest *g, PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    if (type->tp_del)
        return true;
    if (type->tp_finalize && !is_idle_generator(o) && !is_memory_file(o) && !is_closed_file(o))
        return true;
    if (PyWeakref_CheckRef(o))
        return !is_idle_callback(g, ((PyWeakReference *)o)->wr_callback);
    /* Some instances are in no list of the collector; only their class shows whether they have a
     * finaliser. */
    return PyType_Check(o) && ((PyTypeObject *)o)->tp_finalize && !PyType_IS_GC((PyTypeObject *)o);
}

static bool nobody_listens(PyInterpreterState *interp, PyThreadState *thread)
{
    return !interp->audit_hooks && !interp->gc.debug && !thread->c_tracefunc &&
           !thread->c_profilefunc &&
           (!interp->gc.callbacks || PyList_GET_SIZE(interp->gc.callbacks) == 0) &&
           (!interp->gc.garbage || PyList_GET_SIZE(interp->gc.garbage) == 0);
}

bool guest_is_quiet(const struct guest *g)
{
    PyThreadState *thread = PyThreadState_Get();
    PyInterpreterState *interp = thread->interp;
    if (PyThreadState_Next(PyInterpreterState_ThreadHead(interp)) ||
        !nobody_listens(interp, thread) || PySys_GetObject("stdout") != g->std[1] ||
        PySys_GetObject("stderr") != g->std[2] || !libraries_are_quiet(g))
        return false;
    return !guest_any_object(speaks, g);
}
