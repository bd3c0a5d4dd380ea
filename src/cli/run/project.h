/* cli/run/project.h — a directory as a program: its entry, with the other files beside it.
 * Runs in: main, with the rights of the caller. */
#pragma once

#include "cli/run/run_arguments.h"

/* If o->file is a directory, it becomes the entry in it, and the other files of the directory are
 * added to o->files. Hidden files, links, folders of packages and files with keys are left out. */
[[nodiscard]] int project_open(struct run_arguments *o, struct err *e);
/* Adds the files of a directory to o->files, by the same rules; none of them is the program. `see`
 * is called with the name of each, below the directory. */
[[nodiscard]] int project_copy(struct run_arguments *o, const char *directory,
                               void (*see)(void *arg, const char *name), void *arg, struct err *e);
