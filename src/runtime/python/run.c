/* runtime/python/run.c — runs the job as Py_RunMain() runs a file, from the command line to the
 * exit status. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/python/guest.h"
#include "runtime/python/values.h"
#include "spec/job.h"

enum { FLUSH_FAILED = 120, MANY_MODULES = 90 }; /* FLUSH_FAILED is the interpreter's value */

struct ending {
    int status;
    bool interrupted; /* by KeyboardInterrupt: it then dies of SIGINT, as shells expect */
};

static PyObject *decode(const char *s)
{
    PyObject *o = PyUnicode_DecodeFSDefault(s);
    if (!o)
        abort();
    return o;
}

/* Sets os.environ as the interpreter would have found it. */
static void set_environ(const struct guest *g, char **envp)
{
    PyDict_Clear(g->environ);
    PyDict_Clear(g->os_environ);
    for (char **entry = envp; *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        if (!equals)
            continue;
        PyObject *k = PyBytes_FromStringAndSize(*entry, equals - *entry);
        PyObject *v = PyBytes_FromString(equals + 1);
        if (!k || !v || !PyDict_SetDefault(g->environ, k, v) ||
            !PyDict_SetDefault(g->os_environ, k, v))
            abort();
        Py_DECREF(k);
        Py_DECREF(v);
    }
    if (getenv("TZ")) {
        PyObject *time = PyImport_ImportModule("time");
        PyObject *r = time ? PyObject_CallMethod(time, "tzset", NULL) : NULL;
        if (!r)
            abort();
        Py_DECREF(r);
        Py_DECREF(time);
    }
}

/* Sets sys.argv, sys.path[0] and sys.orig_argv. */
static void set_argv(const struct driver_job *job)
{
    wchar_t **wide = calloc((size_t)job->argc, sizeof *wide);
    PyObject *all = PyList_New(job->argc);
    if (!wide || !all)
        abort();
    for (int i = 0; i < job->argc; i++) {
        wide[i] = Py_DecodeLocale(job->argv[i], NULL);
        PyObject *word = wide[i] ? PyUnicode_FromWideChar(wide[i], -1) : NULL;
        if (!word)
            abort();
        PyList_SET_ITEM(all, i, word);
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* no other function finds sys.path[0] */
    PySys_SetArgvEx(job->argc - 1, wide + 1, 1);
#pragma GCC diagnostic pop
    if (PySys_SetObject("orig_argv", all) < 0)
        abort();
    Py_DECREF(all);
    for (int i = 0; i < job->argc; i++)
        PyMem_RawFree(wide[i]);
    free(wide);
}

/* Handles SystemExit as PyErr_Print() does, up to its Py_Exit(). */
static int exit_status(void)
{
    PyObject *type, *value, *trace;
    int status = 0;
    PyErr_Fetch(&type, &value, &trace);
    (void)fflush(stdout);
    if (value && PyExceptionInstance_Check(value)) {
        PyObject *code = PyObject_GetAttrString(value, "code");
        if (code)
            Py_SETREF(value, code);
        else
            PyErr_Clear();
    }
    if (value && PyLong_Check(value)) {
        status = (int)PyLong_AsLong(value);
    } else if (value && value != Py_None) {
        PyObject *err = PySys_GetObject("stderr");
        PyErr_Clear();
        if (err && err != Py_None) {
            (void)PyFile_WriteObject(value, err, Py_PRINT_RAW);
        } else {
            (void)PyObject_Print(value, stderr, Py_PRINT_RAW);
            (void)fflush(stderr);
        }
        PySys_WriteStderr("\n");
        status = 1;
    }
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return status;
}

static void flush(const char *name)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *file = PySys_GetObject(name);
    PyObject *r = file ? PyObject_CallMethod(file, "flush", NULL) : NULL;
    if (!r)
        PyErr_Clear();
    Py_XDECREF(r);
    PyErr_Restore(type, value, trace);
}

/* Sets up __main__ for a file, while it runs and afterwards. */
static struct ending run_file(const struct guest *g, int fd, const char *name)
{
    struct ending end = { 0 };
    PyObject *d = g->main_dict, *file = decode(name);
    PyObject *loader = PyObject_CallFunction(g->loader_type, "sO", "__main__", file);
    FILE *f = fdopen(fd, "rb");
    if (!f || !loader || PyDict_SetItemString(d, "__file__", file) < 0 ||
        PyDict_SetItemString(d, "__cached__", Py_None) < 0 ||
        PyDict_SetItemString(d, "__loader__", loader) < 0 ||
        PyDict_SetItem(g->importer_cache, file, Py_None) < 0)
        abort();
    Py_DECREF(file);
    Py_DECREF(loader);
    PyCompilerFlags flags = _PyCompilerFlags_INIT;
    PyObject *r = PyRun_FileExFlags(f, name, Py_file_input, d, d, 1, &flags);
    flush("stderr");
    flush("stdout");
    if (!r) {
        end.interrupted = PyErr_Occurred() == PyExc_KeyboardInterrupt;
        if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
            end.status = exit_status();
            return end; /* __file__ stays */
        }
        values_note();
        PyErr_Print();
        end.status = 1;
    }
    Py_XDECREF(r);
    if (PyDict_DelItemString(d, "__file__") < 0)
        PyErr_Clear();
    if (PyDict_DelItemString(d, "__cached__") < 0)
        PyErr_Clear();
    return end;
}

static void wait_for_threads(void)
{
    PyObject *name = decode("threading"), *threading = PyImport_GetModule(name);
    Py_DECREF(name);
    if (!threading) {
        if (PyErr_Occurred())
            PyErr_WriteUnraisable(NULL);
        return;
    }
    PyObject *r = PyObject_CallMethod(threading, "_shutdown", NULL);
    if (!r)
        PyErr_WriteUnraisable(threading);
    Py_XDECREF(r);
    Py_DECREF(threading);
}

/* Only the interpreter's own two streams: with any other stream guest_is_quiet() is false. */
static bool flush_std(const struct guest *g)
{
    bool good = true;
    for (int i = 1; i < 3; i++) {
        PyObject *closed = PyObject_GetAttrString(g->std[i], "closed");
        bool open = closed && !PyObject_IsTrue(closed);
        PyErr_Clear();
        Py_XDECREF(closed);
        PyObject *r = open ? PyObject_CallMethod(g->std[i], "flush", NULL) : Py_NewRef(Py_None);
        if (!r) {
            good = false;
            if (i == 1)
                PyErr_WriteUnraisable(g->std[i]);
            else
                PyErr_Clear();
        }
        Py_XDECREF(r);
    }
    return good;
}

/* Py_FinalizeEx() destroys everything and so copies nearly every page that the embryos share. That
 * takes longer than most programs run. It is skipped if no program could notice that. */
static int end_as(struct guest *g, struct ending end)
{
    wait_for_threads();
    PyObject *r = PyObject_CallNoArgs(g->run_exitfuncs);
    if (!r)
        PyErr_Clear();
    Py_XDECREF(r);
    bool quiet = guest_is_quiet(g);
    if (!quiet) {
        /* With about a hundred modules the collector would take longer than the whole run. */
        bool few = PySet_GET_SIZE(g->preloaded) < MANY_MODULES;
        guest_let_go(g);
        if (few)
            guest_thaw();
    }
    if (quiet ? !flush_std(g) : Py_FinalizeEx() < 0)
        end.status = FLUSH_FAILED;
    values_leave();
    if (end.interrupted) {
        (void)PyOS_setsig(SIGINT, SIG_DFL);
        (void)kill(getpid(), SIGINT);
        end.status = SIGINT + 128;
    }
    if (!quiet)
        exit(end.status);
    (void)fflush(NULL);
    _exit(end.status);
}

void guest_run_sample(struct guest *g, const char *program, const struct driver_job *job)
{
    int fd = memfd_create("sample", MFD_CLOEXEC);
    if (fd < 0 || write(fd, program, strlen(program)) < 0 || lseek(fd, 0, SEEK_SET) < 0)
        _exit(1);
    guest_freshen();
    set_environ(g, job->envp);
    set_argv(job);
    guest_begin_now();
    (void)run_file(g, fd, "/sandbox/main.py");
    wait_for_threads();
    Py_XDECREF(PyObject_CallNoArgs(g->run_exitfuncs));
    (void)guest_is_quiet(g);
    (void)flush_std(g);
}

int guest_run(struct guest *g, const struct driver_job *job)
{
    int fd;
    char *name;
    if (!guest_fits(g, job, &fd, &name))
        guest_exec(job);
    set_environ(g, job->envp);
    set_argv(job);
    guest_begin_now();
    if (job->flags & JOB_VALUES)
        values_begin(job->slate);
    if (!g->session)
        guest_answer_questions();
    struct ending end = run_file(g, fd, name);
    free(name);
    return end_as(g, end);
}
