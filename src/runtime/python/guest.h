/* runtime/python/guest.h — what the parts of the Python driver share. Runs in: a zygote, and the embryos forked from it.
 *
 * Promise: to the guest, a warm run is `python3 main.py`. Where that would take more than is worth it here, the embryo
 * executes the interpreter after all (bare.c says when), and where its end could be noticed, it ends as the interpreter
 * does (quiet.c says when). Both are slower, neither is different. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <signal.h>
#include <stdbool.h>

#include "zygote/driver.h"

/* What the interpreter made while it booted, kept for when the guest can have changed it, or to be found without
 * touching what all embryos share. */
struct guest {
    PyObject *main_dict;      /* of __main__; borrowed, for it is to die with it */
    PyObject *loader_type;    /* SourceFileLoader */
    PyObject *importer_cache; /* sys.path_importer_cache */
    PyObject *environ;        /* posix.environ: bytes to bytes */
    PyObject *os_environ;     /* os.environ's own dictionary */
    PyObject *run_exitfuncs;  /* atexit._run_exitfuncs */
    PyObject *std[3];         /* sys.stdin, stdout, stderr */
    PyObject *preloaded; /* set: modules (to the first dot) that a bare one would not have yet */
    PyObject *weakref_globals[3]; /* of the modules whose callbacks do nothing but tidy up */
    unsigned long long libraries; /* how many were loaded */
};

/* boot.c. Neither returns when there can be no such zygote. */
void guest_boot(struct guest *g, int argc, char **argv);
void guest_preload(struct guest *g, const char *modules);
/* Keeps nothing alive any more. */
void guest_let_go(struct guest *g);

/* fresh.c: in the embryo. Everything random, and every name of this process, is its own from here on. */
void guest_freshen(void);
/* When the job is there: the time that it begins at. */
void guest_begin_now(void);

/* bare.c: false when the job is for the interpreter as it is; ret_name is what it would call the file. */
bool guest_fits(const struct guest *g, const struct driver_job *job, int *ret_fd, char **ret_name);
_Noreturn void guest_exec(const struct driver_job *job);

/* run.c: the exit status, or the end by a signal. */
int guest_run(struct guest *g, const struct driver_job *job);

/* As far as before the end. */
void guest_rehearse(struct guest *g, const char *program, const struct driver_job *job);

/* scout.c */
void guest_send_scout(struct guest *g, const char *program, char **argv, char **envp);

/* collector.c */
void guest_freeze(void);
void guest_keep_in_sight(PyObject *o, int generation);
int guest_generation_of(PyObject *o);
void guest_thaw(void);
/* Among the objects that are not frozen. */
bool guest_any_object(bool (*is_it)(const struct guest *g, PyObject *o), const struct guest *g);

/* quiet.c: whether nobody could tell if everything that is left were destroyed or not. */
bool guest_is_quiet(const struct guest *g);
/* How many libraries there are in this process. */
unsigned long long guest_libraries(void);
