/* runtime/python/internals.h — the interpreter's internal structures, from its own headers.
 * driver.c refuses an interpreter that the headers do not match. */
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#define Py_BUILD_CORE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <internal/pycore_frame.h>
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE
#pragma GCC diagnostic pop

#include "runtime/python/guest.h"
