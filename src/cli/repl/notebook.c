#include "cli/repl/notebook.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "base/text.h"

enum { NOTEBOOK_MAX = 64 << 20 };

bool notebook_is(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".ipynb") == 0;
}

static int load(const char *path, json_t **ret, struct err *e)
{
    scoped(buf) text = { 0 };
    json_error_t why;
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_BAD_REQUEST, errno, "notebook '%s'",
                       QUOTED(path));
    if (fd_read_to_buf(fd, NOTEBOOK_MAX, &text, e))
        return err_wrap(e, "notebook '%s'", QUOTED(path));
    json_t *o = json_loadb(buf_str(&text), text.len, 0, &why);
    if (o && json_is_array(json_object_get(o, "cells"))) {
        *ret = o;
        return 0;
    }
    json_decref(o);
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "'%s' is no notebook: a JSON object with \"cells\" is accepted (nbformat 4)%s%s",
                   QUOTED(path), o ? "" : "; ", o ? "" : why.text);
}

/* The name of the language that the notebook declares; NULL: none. */
static const char *declared(const json_t *notebook)
{
    const json_t *about = json_object_get(notebook, "metadata");
    const char *name = json_string_value(
        json_object_get(json_object_get(about, "language_info"), "name"));
    return name ? name
                : json_string_value(
                      json_object_get(json_object_get(about, "kernelspec"), "language"));
}

/* The source of a cell is a text, or a list of lines. */
static int add_cell(struct notebook *n, const json_t *source, struct err *e)
{
    scoped(buf) code = { 0 };
    size_t i;
    const json_t *line;
    const char *whole = json_string_value(source);
    if (whole && buf_add(&code, whole, strlen(whole), e))
        return -1;
    json_array_foreach(source, i, line) {
        const char *text = json_string_value(line);
        if (text && buf_add(&code, text, strlen(text), e))
            return -1;
    }
    const char *text = buf_str(&code);
    return text[strspn(text, " \t\r\n")] ? strv_add(&n->cells, text, e) : 0;
}

static int take(struct notebook *n, const json_t *o, const struct language *wanted, struct err *e)
{
    const char *name = declared(o);
    size_t i;
    const json_t *cell;
    n->language = wanted ? wanted : language_find(name ? name : "python");
    if (!n->language)
        return language_refuse(name, e);
    json_array_foreach(json_object_get(o, "cells"), i, cell) {
        const char *type = json_string_value(json_object_get(cell, "cell_type"));
        if (type && strcmp(type, "code") == 0 && add_cell(n, json_object_get(cell, "source"), e))
            return -1;
    }
    return 0;
}

int notebook_read(const char *path, const struct language *wanted, struct notebook *ret,
                  struct err *e)
{
    json_auto_t *o = NULL;
    scoped(notebook) n = { 0 };
    if (load(path, &o, e) || take(&n, o, wanted, e))
        return -1;
    if (!n.cells)
        return err_set(e, ERR_BAD_REQUEST, 0, "notebook '%s' has no code cell with code",
                       QUOTED(path));
    *ret = n;
    n = (struct notebook){ 0 };
    return 0;
}

void notebook_done(struct notebook *n)
{
    strv_free(n->cells);
}
