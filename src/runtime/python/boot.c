/* runtime/python/boot.c — boots the interpreter to the state of `python3 main.py` just before it
 * opens the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "runtime/python/guest.h"
#include "runtime/python/values.h"

static _Noreturn void fail_python(const char *what)
{
    char why[200];
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    (void)snprintf(why, sizeof why, "%s: %.120s", what, utf8 ? utf8 : "no reason given");
    driver_fail(why);
}

static PyObject *need(PyObject *o, const char *what)
{
    if (!o)
        fail_python(what);
    return o;
}

static PyObject *need_attr(const char *module, const char *name)
{
    PyObject *m = need(PyImport_ImportModule(module), module);
    PyObject *o = need(PyObject_GetAttrString(m, name), name);
    Py_DECREF(m);
    return o;
}

static PyObject *need_sys(const char *name)
{
    return Py_NewRef(need(PySys_GetObject(name), name));
}

/* The interpreter chooses its buffering by the kind of 0, 1 and 2 while it boots. A job has pipes
 * there, so the boot gets pipes too. */
static void lend_pipes(int saved[3])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        driver_fail("a pipe cannot be made");
    for (int i = 0; i < 3; i++)
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
    if (dup2(ends[0], 0) < 0 || dup2(ends[1], 1) < 0 || dup2(ends[1], 2) < 0)
        driver_fail("the pipes cannot be moved to 0, 1 and 2");
    close(ends[0]);
    close(ends[1]);
}

static void take_pipes_back(int saved[3])
{
    for (int i = 0; i < 3; i++) {
        if (saved[i] < 0) {
            close(i);
            continue;
        }
        (void)dup2(saved[i], i);
        close(saved[i]);
    }
}

/* As Py_BytesMain does it. */
static void initialise(int argc, char **argv)
{
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    PyStatus status = PyConfig_SetBytesArgv(&config, argc, argv);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    if (PyStatus_Exception(status))
        driver_fail(status.err_msg ? status.err_msg : "the interpreter does not boot");
    PyConfig_Clear(&config);
}

void guest_boot(struct guest *g, int argc, char **argv)
{
    static const char *const std[] = { "stdin", "stdout", "stderr" };
    int saved[3];
    lend_pipes(saved);
    initialise(argc, argv);
    take_pipes_back(saved);
    for (int i = 0; i < 3; i++)
        g->std[i] = need_sys(std[i]);
    g->importer_cache = need_sys("path_importer_cache");
    PyObject *main_module = need(PyImport_AddModule("__main__"), "__main__"); /* borrowed */
    g->main_dict = PyModule_GetDict(main_module);
    g->loader_type = need_attr("_frozen_importlib_external", "SourceFileLoader");
    g->environ = need_attr("posix", "environ");
    PyObject *environ_object = need_attr("os", "environ");
    g->os_environ = need(PyObject_GetAttrString(environ_object, "_data"), "os.environ");
    Py_DECREF(environ_object);
}

/* Names of sys.modules, up to the first dot. */
static PyObject *top_names(void)
{
    PyObject *names = need(PySet_New(NULL), "names");
    PyObject *modules = PyImport_GetModuleDict(), *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(modules, &at, &key, &value);) {
        Py_ssize_t n = PyUnicode_GetLength(key);
        Py_ssize_t dot = PyUnicode_FindChar(key, '.', 0, n, 1);
        PyObject *top = need(PyUnicode_Substring(key, 0, dot < 0 ? n : dot), "a name");
        if (PySet_Add(names, top) < 0)
            fail_python("names");
        Py_DECREF(top);
    }
    return names;
}

/* Keeps the module alive, whether or not the guest imports it. */
static PyObject *globals_of(const char *module)
{
    PyObject *m = PyImport_ImportModule(module);
    PyObject *dict = m ? Py_NewRef(PyModule_GetDict(m)) : NULL;
    Py_XDECREF(m);
    PyErr_Clear();
    return dict;
}

static PyObject *sys_modules_copy(void)
{
    return need(PyDict_Copy(PyImport_GetModuleDict()), "sys.modules");
}

/* matplotlib chooses its directories when it is imported. If it can write to none, it makes a
 * temporary one and removes it at exit. The guest has other directories and nothing to remove. */
static void forget_directories(void)
{
    static const char code[] =
        "import sys\n"
        "m = sys.modules.get('matplotlib')\n"
        "if m:\n"
        "    import atexit, os, shutil\n"
        "    atexit.unregister(shutil.rmtree)\n"
        "    os.environ.pop('MPLCONFIGDIR', None)\n"
        "    for f in (m.get_configdir, m.get_cachedir):\n"
        "        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):\n"
        "            if name == 'called':\n"
        "                cell.cell_contents = False\n";
    PyObject *scope = need(PyDict_New(), "a scope");
    PyObject *r = PyRun_String(code, Py_file_input, scope, scope);
    PyErr_Clear(); /* another version of matplotlib: leave it as it is */
    Py_XDECREF(r);
    Py_DECREF(scope);
}

static void put_modules_back(PyObject *kept)
{
    PyObject *dict = PyImport_GetModuleDict();
    PyDict_Clear(dict);
    if (PyDict_Update(dict, kept) < 0)
        fail_python("sys.modules");
}

/* All of the list or nothing: the parts of a package whose import failed would pass for the
 * whole. */
static void preload_one(const char *name)
{
    PyObject *kept = sys_modules_copy();
    PyObject *m = PyImport_ImportModule(name);
    if (!m) {
        PyErr_Clear(); /* not installed: the guest will get the same error */
        put_modules_back(kept);
    }
    Py_XDECREF(m);
    Py_DECREF(kept);
}

void guest_preload(struct guest *g, const char *modules)
{
    PyObject *before = top_names();
    char *list = strdup(modules), *rest = list;
    for (char *name; (name = strsep(&rest, " ,"));)
        if (*name)
            preload_one(name);
    free(list);
    PyObject *after = top_names();
    g->preloaded = need(PyNumber_Subtract(after, before), "names");
    Py_DECREF(after);
    Py_DECREF(before);
}

void guest_make_session(struct guest *g, const char *directory)
{
    static const char code[] = "import sys\n"
                               "sys.path.append(directory)\n"
                               "import belljar_errors, belljar_warm\n"
                               "sys.path.remove(directory)\n"
                               "belljar_errors.values_of = values_of\n"
                               "belljar_warm.make()\n";
    static PyMethodDef values = { "values_of", values_of_traceback, METH_O, NULL };
    PyObject *scope = need(PyDict_New(), "a scope"),
             *name = need(PyUnicode_DecodeFSDefault(directory), "a name"),
             *function = need(PyCFunction_New(&values, NULL), "a function");
    if (PyDict_SetItemString(scope, "directory", name) < 0 ||
        PyDict_SetItemString(scope, "values_of", function) < 0)
        fail_python("a scope");
    PyObject *r = need(PyRun_String(code, Py_file_input, scope, scope), "a session cannot be made");
    Py_DECREF(r);
    Py_DECREF(function);
    Py_DECREF(name);
    Py_DECREF(scope);
    g->session = true;
}

void guest_settle(struct guest *g)
{
    forget_directories();
    /* For the driver. The guest does not see them in places where it did not see them before. */
    PyObject *kept = sys_modules_copy();
    g->run_exitfuncs = need_attr("atexit", "_run_exitfuncs");
    g->weakref_globals[0] = globals_of("weakref");
    g->weakref_globals[1] = globals_of("_weakrefset");
    g->weakref_globals[2] = globals_of("functools");
    put_modules_back(kept);
    Py_DECREF(kept);
    g->libraries = guest_libraries();

    int generation = guest_generation_of(g->main_dict);
    guest_freeze();
    guest_keep_in_sight(g->main_dict, generation);
}

void guest_let_go(struct guest *g)
{
    PyObject **const kept[] = {
        &g->loader_type,
        &g->importer_cache,
        &g->environ,
        &g->os_environ,
        &g->run_exitfuncs,
        &g->std[0],
        &g->std[1],
        &g->std[2],
        &g->preloaded,
        &g->weakref_globals[0],
        &g->weakref_globals[1],
        &g->weakref_globals[2],
    };
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        Py_CLEAR(*kept[i]);
}
