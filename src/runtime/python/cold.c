/* runtime/python/cold.c — the values of a run that started cold, on request: this library is preloaded
 * into the interpreter, which has no driver then.
 *
 * The interpreter raises an audit event before it reports an error that ends the program. A hook of C
 * is invisible to the program. The file is written when the process ends, as with a driver. The hook
 * makes each audited operation a little slower, such as an import, so it is there only on request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/python/values.h"

static int on_event(const char *event, PyObject *args, void *unused)
{
    (void)unused;
    if (strcmp(event, "sys.excepthook") == 0 && PyTuple_CheckExact(args) &&
        PyTuple_GET_SIZE(args) == 4)
        values_note_traceback(PyTuple_GET_ITEM(args, 3));
    return 0;
}

/* Only in the interpreter that the headers describe; every other program ignores this library. */
[[gnu::constructor]] static void begin(void)
{
    char ours[16];
    (void)unsetenv("LD_PRELOAD"); /* before the interpreter reads its environment */
    (void)snprintf(ours, sizeof ours, "%d.%d.", PY_MAJOR_VERSION, PY_MINOR_VERSION);
    if (strncmp(Py_GetVersion(), ours, strlen(ours)) != 0 || PySys_AddAuditHook(on_event, NULL) < 0)
        return;
    values_begin_in(".");
}

[[gnu::destructor]] static void end(void)
{
    values_leave();
}
