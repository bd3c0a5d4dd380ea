/* runtime/python/guest.h — shared by the parts of the Python driver. Runs in: a zygote, and the
 * embryos forked from it.
 *
 * Promise: to the guest, a warm run is `python3 main.py`. If a job needs more than the driver does
 * exactly, the embryo executes the interpreter after all (bare.c decides). If a program could
 * notice how it ends, the embryo ends as the interpreter does (quiet.c decides). Both are slower,
 * neither is different. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <signal.h>
#include <stdbool.h>

#include "zygote/driver.h"

/* Objects that the interpreter made while it booted. They are kept because the guest can replace
 * them later, or because looking them up would touch pages that all embryos share. */
struct guest {
    PyObject *main_dict;      /* of __main__; borrowed, so that it dies with __main__ */
    PyObject *loader_type;    /* SourceFileLoader */
    PyObject *importer_cache; /* sys.path_importer_cache */
    PyObject *environ;        /* posix.environ: bytes to bytes */
    PyObject *os_environ;     /* os.environ's own dictionary */
    PyObject *run_exitfuncs;  /* atexit._run_exitfuncs */
    PyObject *std[3];         /* sys.stdin, stdout, stderr */
    /* set: modules (to the first dot) that a bare interpreter would not have yet */
    PyObject *preloaded;
    PyObject *weakref_globals[3]; /* of the modules whose weakref callbacks only tidy up */
    unsigned long long libraries; /* number of loaded libraries */
    bool session; /* the session of belljar_session.py is made; the program is session.py */
};

/* boot.c. Neither returns if the zygote cannot be made. */
void guest_boot(struct guest *g, int argc, char **argv);
void guest_preload(struct guest *g, const char *modules);
/* Makes a session with our modules in that directory. */
void guest_make_session(struct guest *g, const char *directory);
/* After all imports: hides the objects of the zygote from the collector. */
void guest_settle(struct guest *g);
/* Drops every reference. */
void guest_let_go(struct guest *g);

/* fresh.c: before a process is copied, in a zygote or a session. guest_freshen() of the copy needs it. */
void guest_find_generators(void);
/* In the embryo. Afterwards all random state and every name of this process is its own. */
void guest_freshen(void);
/* When the job has arrived: sets the time at which it begins. */
void guest_begin_now(void);

/* large.c: in a session, once. */
void guest_prefer_huge_pages(void);

/* bare.c: false when the job needs a bare interpreter. ret_name is the file name as the interpreter
 * would give it. */
bool guest_fits(const struct guest *g, const struct driver_job *job, int *ret_fd, char **ret_name);
_Noreturn void guest_exec(const struct driver_job *job);

/* whereabouts.c: in a run, before its program begins. */
void guest_answer_questions(void);

/* run.c: returns the exit status, or ends by a signal. */
int guest_run(struct guest *g, const struct driver_job *job);

/* Runs the program up to the point where the interpreter would end. */
void guest_run_sample(struct guest *g, const char *program, const struct driver_job *job);

/* page_probe.c */
void guest_fork_page_probe(struct guest *g, const char *program, char **argv, char **envp);

/* collector.c */
void guest_freeze(void);
void guest_keep_in_sight(PyObject *o, int generation);
int guest_generation_of(PyObject *o);
void guest_thaw(void);
/* True for an object that is not frozen. */
bool guest_any_object(bool (*is_it)(const struct guest *g, PyObject *o), const struct guest *g);

/* quiet.c: true when no one could notice whether the remaining objects are destroyed. */
bool guest_is_quiet(const struct guest *g);
/* The number of libraries in this process. */
unsigned long long guest_libraries(void);
