/* runtime/python/bare.c — decides which jobs go to a bare interpreter by execve: unusual command
 * lines, files and descriptors, and file names that hide a module which the zygote has already
 * imported. Nothing has happened by then that execve would not undo. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/python/guest.h"

_Noreturn void guest_exec(const struct driver_job *job)
{
    (void)execve(job->argv[0], job->argv, job->envp);
    _exit(127);
}

/* While it booted, the interpreter set up 0, 1 and 2 for pipes. */
static bool has_pipes(void)
{
    for (int fd = 0; fd < 3; fd++) {
        struct stat st;
        if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
            return false;
    }
    return true;
}

/* True for source text. False for compiled code and for an executable archive, whose mark may stand
 * anywhere in the file. */
static bool is_source(int fd)
{
    enum { TAIL = 22 + 65535 }; /* the end record of a zip file with the longest comment */
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    size_t n = (size_t)(st.st_size < TAIL ? st.st_size : TAIL);
    unsigned char magic[2] = { 0 };
    bool source = pread(fd, magic, 2, 0) >= 0 &&
                  !(magic[0] == (PyImport_GetMagicNumber() & 0xff) &&
                    magic[1] == (PyImport_GetMagicNumber() >> 8 & 0xff));
    char *tail = malloc(n + 1);
    ssize_t got = tail ? pread(fd, tail, n, st.st_size - (off_t)n) : -1;
    source = source && got == (ssize_t)n && !memmem(tail, n, "PK\5\6", 4);
    free(tail);
    return source;
}

static bool is_preloaded(const struct guest *g, const char *entry)
{
    size_t n = strcspn(entry, ".");
    PyObject *name = PyUnicode_DecodeUTF8(entry, (Py_ssize_t)n, "replace");
    bool found = !name || PySet_Contains(g->preloaded, name) != 0;
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

/* In the program's directory, where import looks first. The modules of a session look in the working
 * directory. */
static bool hides_a_module(const struct guest *g, const char *file)
{
    char real[PATH_MAX];
    if (PySet_GET_SIZE(g->preloaded) == 0)
        return false;
    if (!realpath(g->session ? "." : file, real))
        return true;
    if (!g->session)
        *strrchr(real, '/') = '\0';
    DIR *dir = opendir(*real ? real : "/");
    bool hides = !dir;
    for (struct dirent *entry; !hides && (entry = readdir(dir));)
        hides = is_preloaded(g, entry->d_name);
    if (dir)
        (void)closedir(dir);
    return hides;
}

/* As the interpreter does it: directory and name joined, without simplification. */
static char *full_name(const char *file)
{
    char cwd[PATH_MAX], *name = NULL;
    if (file[0] == '/')
        return strdup(file);
    if (!getcwd(cwd, sizeof cwd))
        return NULL;
    return asprintf(&name, "%s/%s", cwd, file) < 0 ? NULL : name;
}

bool guest_fits(const struct guest *g, const struct driver_job *job, int *ret_fd, char **ret_name)
{
    const char *file = job->argc > 1 ? job->argv[1] : "";
    size_t n = strlen(file);
    if (!n || file[0] == '-' || (n >= 4 && strcmp(file + n - 4, ".pyc") == 0) || !has_pipes())
        return false;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char *name = is_source(fd) && !hides_a_module(g, file) ? full_name(file) : NULL;
    if (!name) {
        close(fd);
        return false;
    }
    *ret_fd = fd;
    *ret_name = name;
    return true;
}
