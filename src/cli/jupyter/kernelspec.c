#include "cli/jupyter/kernelspec.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "cli/jupyter/languages.h"
#include "run/json.h"

/* A variable that names a directory. Jupyter ignores an empty one, too. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int fits(int n, size_t size, struct err *e)
{
    if (n > 0 && (size_t)n < size)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "the directory of the kernelspecs has too long a name: up to %zu bytes are "
                   "accepted",
                   size - 1);
}

int kernelspec_dir(const struct kernelspec_place *place, char *out, size_t size, struct err *e)
{
    const char *prefix = place->prefix, *dir;
    if (!prefix && place->sys_prefix && !(prefix = variable("VIRTUAL_ENV")) &&
        !(prefix = variable("CONDA_PREFIX")))
        prefix = "/usr/local";
    if (prefix)
        return fits(snprintf(out, size, "%s/share/jupyter/kernels", prefix), size, e);
    if ((dir = variable("JUPYTER_DATA_DIR")))
        return fits(snprintf(out, size, "%s/kernels", dir), size, e);
    if ((dir = variable("XDG_DATA_HOME")))
        return fits(snprintf(out, size, "%s/jupyter/kernels", dir), size, e);
    if (!(dir = variable("HOME")))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "$HOME is not set, so there is no directory of the user: --prefix DIR names "
                       "another one");
    return fits(snprintf(out, size, "%s/.local/share/jupyter/kernels", dir), size, e);
}

static int spec_path(const char *dir, const struct language *l, const char *file,
                     char out[PATH_MAX], struct err *e)
{
    return fits(snprintf(out, PATH_MAX, "%s/belljar-%s%s", dir, l->name, file), PATH_MAX, e);
}

/* Like mkdir -p. */
static int make_dirs(char *path, struct err *e)
{
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return err_set(e, ERR_BAD_REQUEST, errno, "make the directory '%s'", QUOTED(path));
        if (!slash)
            return 0;
        *slash = '/';
    }
}

static json_t *spec_json(const struct kernelspec *s, const char *program)
{
    char shown[64];
    json_t *argv = json_pack("[s, s, s, s, s, s]", program, "kernel", "--language",
                             s->language->name, "-f", "{connection_file}");
    if (s->state) {
        (void)json_array_append_new(argv, json_string("--state"));
        (void)json_array_append_new(argv, json_string(s->state));
    }
    if (s->timeout) {
        (void)json_array_append_new(argv, json_string("--timeout"));
        (void)json_array_append_new(argv, json_string(s->timeout));
    }
    return json_pack("{s:o, s:s, s:s, s:s, s:{s:b}}", "argv", argv, "display_name",
                     jupyter_display_name(s->language, shown, sizeof shown), "language",
                     s->language->name, "interrupt_mode", "message", "metadata", "debugger", 0);
}

int kernelspec_write(const char *dir, const struct kernelspec *s, struct err *e)
{
    char program[PATH_MAX], path[PATH_MAX], fresh[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0)
        return err_set(e, ERR_KERNEL, errno, "read /proc/self/exe");
    program[n] = '\0';
    if (spec_path(dir, s->language, "", path, e) || make_dirs(path, e) ||
        spec_path(dir, s->language, "/kernel.json", path, e) ||
        spec_path(dir, s->language, "/kernel.json.new", fresh, e))
        return -1;
    json_auto_t *o = spec_json(s, program);
    autofree char *text = o ? json_dumps(o, JSON_INDENT(1)) : NULL;
    if (!text)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the path of belljar, or of --state, is not UTF-8: JSON cannot have it");
    (void)unlink(fresh); /* of a command that was killed */
    autoclose int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0 || fd_write_all(fd, text, strlen(text)) || fd_write_all(fd, "\n", 1) ||
        rename(fresh, path) < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "write '%s'", QUOTED(path));
    return 0;
}

int kernelspec_remove(const char *dir, const struct language *l, bool *ret_found, struct err *e)
{
    char path[PATH_MAX];
    if (spec_path(dir, l, "/kernel.json", path, e))
        return -1;
    *ret_found = unlink(path) == 0;
    if (!*ret_found && errno != ENOENT && errno != ENOTDIR)
        return err_set(e, ERR_BAD_REQUEST, errno, "remove '%s'", QUOTED(path));
    if (spec_path(dir, l, "", path, e))
        return -1;
    if (*ret_found && rmdir(path) < 0 && errno != ENOTEMPTY)
        return err_set(e, ERR_BAD_REQUEST, errno, "remove '%s'", QUOTED(path));
    return 0;
}

bool kernelspec_is_there(const char *dir, const struct language *l)
{
    char path[PATH_MAX];
    struct stat st;
    struct err e;
    return spec_path(dir, l, "/kernel.json", path, &e) == 0 && stat(path, &st) == 0;
}
