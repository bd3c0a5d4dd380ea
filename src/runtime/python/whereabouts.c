/* runtime/python/whereabouts.c — answers SIGURG with the lines at which the threads are (spec/job.h).
 *
 * The handler writes the stacks in the way of the interpreter's own faulthandler: it takes no lock,
 * allocates nothing, and runs also while no thread runs Python code. A program that sets a handler of
 * its own for the signal is not asked. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/python/internals.h"
#include "spec/job.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#define Py_BUILD_CORE 1
#include <internal/pycore_traceback.h>
#undef Py_BUILD_CORE
#pragma GCC diagnostic pop

static PyInterpreterState *interpreter;
static pid_t program; /* its children have the handler, too, and are not asked */

/* First the thread that runs Python code, or the main thread if all wait. The other threads follow,
 * because one of them may compute in a library. */
static void write_stacks(int fd)
{
    static const char mark[] = "At\n";
    PyThreadState *current = _PyThreadState_UncheckedGet();
    const PyThreadState *newest = PyInterpreterState_ThreadHead(interpreter);
    if (!current)
        current = PyGILState_GetThisThreadState();
    if (!current || write(fd, mark, sizeof mark - 1) != (ssize_t)sizeof mark - 1)
        return;
    _Py_DumpTraceback(fd, current);
    if (newest && newest->next)
        (void)_Py_DumpTracebackThreads(fd, interpreter, current);
}

static void on_question(int number)
{
    (void)number;
    int before = errno;
    int fd = getpid() == program
                 ? open("/sandbox/" WHEREABOUTS_FILE,
                        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644)
                 : -1;
    if (fd >= 0 && lseek(fd, 0, SEEK_END) < WHEREABOUTS_MAX / 2)
        write_stacks(fd);
    if (fd >= 0)
        (void)close(fd);
    errno = before;
}

void guest_answer_questions(void)
{
    struct sigaction action = { .sa_handler = on_question, .sa_flags = SA_RESTART };
    interpreter = PyInterpreterState_Main();
    program = getpid();
    (void)sigaction(SIGURG, &action, NULL);
}
