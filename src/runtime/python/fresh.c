/* runtime/python/fresh.c — gives each embryo its own values for everything that a bare interpreter
 * would make anew. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/python/guest.h"

/* Returns a module that is already imported, or NULL without an error. */
static PyObject *loaded(const char *name)
{
    PyObject *m = PyDict_GetItemString(PyImport_GetModuleDict(), name);
    PyErr_Clear();
    return m;
}

static void must(bool done)
{
    if (!done)
        abort(); /* no guest is better than one that shares its secrets */
}

static void call_if_loaded(const char *module, const char *object, const char *method)
{
    PyObject *m = loaded(module);
    if (!m)
        return;
    PyObject *o = PyObject_GetAttrString(m, object);
    PyObject *r = o ? PyObject_CallMethod(o, method, NULL) : NULL;
    must(r);
    Py_DECREF(r);
    Py_DECREF(o);
}

static void set_if_loaded(const char *module, const char *name, PyObject *value)
{
    PyObject *m = loaded(module);
    if (m)
        must(PyObject_SetAttrString(m, name, value) == 0);
}

/* A new key for connections between the guest's own processes, as multiprocessing makes one when it
 * is imported. */
static void renew_authkey(void)
{
    PyObject *m = loaded("multiprocessing.process");
    if (!m)
        return;
    PyObject *process = PyObject_GetAttrString(m, "_current_process");
    PyObject *os = PyImport_ImportModule("os");
    PyObject *key = os ? PyObject_CallMethod(os, "urandom", "i", 32) : NULL;
    must(process && key && PyObject_SetAttrString(process, "authkey", key) == 0);
    Py_DECREF(key);
    Py_DECREF(os);
    Py_DECREF(process);
}

/* The process id and the thread id are new. */
static void renew_main_thread(void)
{
    PyObject *m = loaded("threading");
    if (!m)
        return;
    PyObject *thread = PyObject_GetAttrString(m, "_main_thread");
    PyObject *r = thread ? PyObject_CallMethod(thread, "_set_native_id", NULL) : NULL;
    must(r);
    Py_DECREF(r);
    Py_DECREF(thread);
}

/* SQLite has a generator of its own. A call without a buffer makes it take a new seed. */
static void (*renew_sqlite)(int, void *);

/* The search touches a page for each library. Nobody closes SQLite again: that would touch them once
 * more. */
void guest_find_generators(void)
{
    void *library = renew_sqlite ? NULL : dlopen("libsqlite3.so.0", RTLD_NOLOAD | RTLD_LAZY);
    void *address = library ? dlsym(library, "sqlite3_randomness") : NULL;
    if (address)
        memcpy(&renew_sqlite, &address, sizeof renew_sqlite);
}

void guest_freshen(void)
{
    /* random reseeds itself after a fork; the tests check that together with everything else that
     * is random. */
    call_if_loaded("numpy.random.mtrand", "_rand", "seed");
    set_if_loaded("tempfile", "_name_sequence", Py_None);
    renew_authkey();
    if (renew_sqlite)
        renew_sqlite(0, NULL);
    renew_main_thread();
}

void guest_begin_now(void)
{
    PyObject *logging = loaded("logging"), *time = loaded("time");
    if (!logging || !time)
        return;
    PyObject *now = PyObject_CallMethod(time, "time", NULL);
    must(now && PyObject_SetAttrString(logging, "_startTime", now) == 0);
    Py_DECREF(now);
}
