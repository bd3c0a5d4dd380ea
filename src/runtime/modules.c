#include "runtime/modules.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/auto.h"

static const char *const python_places[] = {
    "/usr/lib/python3/dist-packages",        "/usr/lib/python%s",
    "/usr/local/lib/python%s/dist-packages", "/usr/local/lib/python%s/site-packages",
    "/usr/lib/python%s/site-packages",       NULL,
};

/* Compiled into the interpreter, without a file. */
static const char *const python_built_in[] = { "array",   "atexit", "errno", "gc",  "itertools",
                                               "marshal", "math",   "posix", "pwd", "select",
                                               "sys",     "time",   "zlib",  NULL };

static const struct library {
    const char *language;
    const char *const *places; /* %s: the version, "3.11" */
    const char *const *built_in;
    const char *compiled; /* the directory of modules whose file names end in the platform */
} libraries[] = {
    { "python", python_places, python_built_in, "/usr/lib/python%s/lib-dynload" },
};

static const struct library *library_of(const char *language)
{
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
        if (strcmp(libraries[i].language, language) == 0)
            return &libraries[i];
    return NULL;
}

bool modules_known(const char *language)
{
    return library_of(language) != NULL;
}

static bool plain(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_-@", name[i]))
            return false;
    return n > 0 && n < 64;
}

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static void with_version(const char *place, const char *version, char *out, size_t size)
{
    const char *mark = strstr(place, "%s");
    if (mark)
        (void)snprintf(out, size, "%.*s%s%s", (int)(mark - place), place, version, mark + 2);
    else
        (void)snprintf(out, size, "%s", place);
}

/* "math.cpython-311-x86_64-linux-gnu.so" in the directory of compiled modules. */
static bool compiled_module(const char *place, const char *version, const char *module)
{
    char path[160];
    with_version(place, version, path, sizeof path);
    autodir DIR *d = opendir(path);
    size_t n = strlen(module);
    for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        if (strncmp(e->d_name, module, n) == 0 && e->d_name[n] == '.')
            return true;
    return false;
}

static bool in_place(const char *place, const char *version, const char *module)
{
    char directory[160], path[256];
    with_version(place, version, directory, sizeof directory);
    (void)snprintf(path, sizeof path, "%s/%s", directory, module);
    if (exists(path))
        return true;
    (void)snprintf(path, sizeof path, "%s/%s.py", directory, module);
    return exists(path);
}

/* "3.11" of "3.11.2" or "Python 3.11.2". */
static void short_version(const char *version, char *out, size_t size)
{
    while (version && *version && !isdigit((unsigned char)*version))
        version++;
    const char *end = version ? strchr(version, '.') : NULL;
    end = end ? end + 1 + strspn(end + 1, "0123456789") : NULL;
    (void)snprintf(out, size, "%.*s", end ? (int)(end - version) : 0, end ? version : "");
}

bool module_available(void *context, const char *module)
{
    const struct modules *m = context;
    const struct library *l = library_of(m->language);
    char version[16];
    if (!l || !plain(module))
        return false;
    short_version(m->version, version, sizeof version);
    for (const char *const *b = l->built_in; *b; b++)
        if (strcmp(*b, module) == 0)
            return true;
    for (const char *const *p = l->places; *p; p++)
        if (in_place(*p, version, module))
            return true;
    return version[0] && compiled_module(l->compiled, version, module);
}
