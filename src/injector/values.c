#include "injector/values.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fdio.h"

#define SIZE (VALUES_MAX * sizeof(struct value))

int values_init(struct values *v, struct err *e)
{
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return err_no_memory(e, "the secrets");
    (void)madvise(memory, SIZE, MADV_DONTDUMP);
    (void)mlock2(memory, SIZE, MLOCK_ONFAULT);
    *v = (struct values){ .v = memory };
    return 0;
}

void values_done(struct values *v)
{
    if (v->v) {
        explicit_bzero(v->v, v->n * sizeof *v->v);
        (void)munmap(v->v, SIZE);
    }
    *v = (struct values){ 0 };
}

const char *values_find(const struct values *v, const char *name)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->v[i].name, name) == 0)
            return v->v[i].text;
    return NULL;
}

static int bad(unsigned line, const char *why, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "line %u of the secrets %s", line, why);
}

/* The error says the number of the line and never its text. */
static int add_line(struct values *v, const char *line, size_t n, unsigned number, struct err *e)
{
    struct value x = { 0 };
    const char *equals = memchr(line, '=', n);
    size_t name = equals ? (size_t)(equals - line) : 0;
    if (n == 0 || line[0] == '#')
        return 0;
    if (name == 0 || name >= sizeof x.name)
        return bad(number, "is not NAME=VALUE", e);
    memcpy(x.name, line, name);
    size_t value = n - name - 1;
    if (!network_secret_is_name(x.name))
        return bad(number, "does not begin with a name of letters, digits and '_'", e);
    if (value == 0 || value >= sizeof x.text)
        return bad(number, "has no value, or one of more than 4095 bytes", e);
    for (size_t i = 0; i < value; i++)
        if (equals[1 + i] < 0x20 || equals[1 + i] > 0x7e)
            return bad(number, "has a value that is not printable ASCII, as headers are", e);
    if (values_find(v, x.name))
        return 0;
    if (v->n == VALUES_MAX)
        return bad(number, "is one too many: there are up to 256 secrets", e);
    memcpy(v->v[v->n].name, x.name, sizeof x.name);
    memcpy(v->v[v->n].text, equals + 1, value);
    v->v[v->n++].text[value] = '\0';
    return 0;
}

int values_read(struct values *v, int fd, struct err *e)
{
    static char bytes[256 << 10];
    int rc = 0;
    ssize_t n = lseek(fd, 0, SEEK_SET) < 0 ? -1 : fd_read_full(fd, bytes, sizeof bytes);
    if (n < 0 || n == (ssize_t)sizeof bytes)
        rc = err_set(e, ERR_BAD_REQUEST, n < 0 ? errno : 0,
                     "the secrets cannot be read, or are larger than 256 KiB");
    const char *at = bytes, *end = bytes + (n > 0 ? n : 0);
    for (unsigned line = 1; rc == 0 && at < end; line++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((next ? next : end) - at);
        rc = add_line(v, at, len > 0 && at[len - 1] == '\r' ? len - 1 : len, line, e);
        at = next ? next + 1 : end;
    }
    explicit_bzero(bytes, sizeof bytes);
    return rc;
}
