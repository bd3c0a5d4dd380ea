/* runtime/python/values.c — which variables the failing line and the line of its caller name, and
 * the file that tells about them (values.h). */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "runtime/python/values.h"
#include "spec/job.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#define Py_BUILD_CORE 1
#include <internal/pycore_code.h>
#include <opcode.h>
#undef Py_BUILD_CORE
#pragma GCC diagnostic pop

enum {
    FRAMES_SEEN = 100000, /* of a traceback */
    UNITS_SEEN = 200000,  /* instructions of a function */
    LINES_SEEN = 12,      /* of a statement over several lines */
    NAMES_MAX = 24,       /* that are looked at, */
    SHOWN_MAX = 10,       /* and variables that are told, of a frame */
    CHAIN_MAX = 3,        /* attributes of attributes */
    NAME_SHOWN = 72,
    FILE_SHOWN = 240,
    TOLD_MAX = SLATE_BYTES,
};

static char told[TOLD_MAX];
static size_t n_told;
static char *slate;   /* NULL: the values go into a file */
static pid_t program; /* its children tell nothing */
static char path[PATH_MAX] = "/sandbox/" WHEREABOUTS_FILE;

/* ---- places of instructions ---- */

/* The table of places of a function: for each entry a number of instructions, and a place. The form
 * is described in the interpreter's Objects/locations.md. Every read is checked: a program can make
 * code objects of its own. */
struct places {
    const unsigned char *at, *end;
    int unit, n; /* the first instruction of the entry, and how many */
    int line, end_line, column, end_column, base; /* line 0: it has none; column -1: the same */
};

static unsigned read_byte(struct places *p)
{
    return p->at < p->end ? *p->at++ : 0;
}

static int read_number(struct places *p)
{
    unsigned byte = read_byte(p), value = byte & 63, shift = 0;
    while (byte & 64 && shift < 24) {
        byte = read_byte(p);
        shift += 6;
        value |= (byte & 63) << shift;
    }
    return (int)value;
}

static int read_signed(struct places *p)
{
    unsigned value = (unsigned)read_number(p);
    return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

static void read_place(struct places *p, unsigned kind)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    p->column = p->end_column = -1;
    if (kind == NONE) {
        p->line = p->end_line = 0;
        return;
    }
    if (kind >= NO_COLUMNS)
        p->base += read_signed(p);
    else if (kind >= ONE_LINE)
        p->base += (int)kind - ONE_LINE;
    p->line = p->end_line = p->base;
    if (kind < ONE_LINE) {
        unsigned second = read_byte(p);
        p->column = (int)(kind << 3 | second >> 4);
        p->end_column = p->column + (int)(second & 15);
    } else if (kind < NO_COLUMNS) {
        p->column = (int)read_byte(p);
        p->end_column = (int)read_byte(p);
    } else if (kind == LONG) {
        p->end_line += read_number(p);
        p->column = read_number(p) - 1;
        p->end_column = read_number(p) - 1;
    }
}

static struct places places_of(PyCodeObject *code)
{
    struct places p = { .base = code->co_firstlineno };
    if (code->co_linetable && PyBytes_Check(code->co_linetable)) {
        p.at = (const unsigned char *)PyBytes_AS_STRING(code->co_linetable);
        p.end = p.at + PyBytes_GET_SIZE(code->co_linetable);
    }
    return p;
}

static bool next_place(struct places *p)
{
    if (p->at >= p->end || p->unit > UNITS_SEEN)
        return false;
    unsigned head = read_byte(p);
    p->unit += p->n;
    p->n = (int)(head & 7) + 1;
    read_place(p, head >> 3 & 15);
    return true;
}

/* ---- the names of a line ---- */

struct spot {
    PyFrameObject *frame;
    PyCodeObject *code;
    int unit, line; /* of the traceback */
};

struct name {
    int op, arg;
    PyObject *chain[CHAIN_MAX]; /* the attributes that follow; NULL: no more */
    bool near;                  /* in the expression that failed */
};

struct names {
    struct name all[NAMES_MAX];
    size_t n;
    bool open; /* an attribute would belong to the last one */
};

static bool is_load(int op)
{
    static const int loads[] = { LOAD_FAST,    LOAD_DEREF, LOAD_CLASSDEREF,
                                 LOAD_CLOSURE, LOAD_NAME,  LOAD_GLOBAL };
    for (size_t i = 0; i < ARRAY_LEN(loads); i++)
        if (loads[i] == op)
            return true;
    return false;
}

static PyObject *name_at(PyObject *tuple, int i)
{
    return tuple && PyTuple_Check(tuple) && i >= 0 && i < PyTuple_GET_SIZE(tuple)
               ? PyTuple_GET_ITEM(tuple, i)
               : NULL;
}

static void note(struct names *names, PyCodeObject *code, int op, int arg, bool near)
{
    if (op == CACHE || op == EXTENDED_ARG)
        return;
    struct name *last = names->n > 0 ? &names->all[names->n - 1] : NULL;
    if (names->open && op == LOAD_ATTR) {
        for (size_t i = 0; i < CHAIN_MAX; i++)
            if (!last->chain[i]) {
                last->chain[i] = name_at(code->co_names, arg);
                last->near = last->near || near;
                return;
            }
    }
    names->open = is_load(op) && names->n < NAMES_MAX;
    if (names->open)
        names->all[names->n++] = (struct name){ .op = op, .arg = arg, .near = near };
}

static bool is_near(const struct places *p, const struct places *failed)
{
    bool after = p->line > failed->line || (p->line == failed->line && p->column >= failed->column);
    bool before = p->line < failed->end_line ||
                  (p->line == failed->end_line && p->end_column <= failed->end_column);
    return failed->column >= 0 && after && before;
}

/* Where the failed instruction is. */
static struct places failed_place(const struct spot *s)
{
    struct places p = places_of(s->code);
    while (next_place(&p))
        if (s->unit >= p.unit && s->unit < p.unit + p.n && p.line > 0)
            return p;
    return (struct places){ .line = s->line, .end_line = s->line, .column = -1 };
}

static void names_of(const struct spot *s, struct names *names)
{
    struct places failed = failed_place(s), p = places_of(s->code);
    PyObject *bytes = PyCode_GetCode(s->code);
    const unsigned char *code = bytes ? (const unsigned char *)PyBytes_AS_STRING(bytes) : NULL;
    int units = bytes ? (int)(PyBytes_GET_SIZE(bytes) / 2) : 0, more = 0;
    while (next_place(&p) && names->n < NAMES_MAX) {
        bool wanted = p.line >= failed.line && p.line <= failed.end_line &&
                      p.line < failed.line + LINES_SEEN;
        for (int i = p.unit; wanted && i < p.unit + p.n && i < units; i++) {
            const unsigned char *unit = code + 2 * (size_t)i;
            int op = unit[0], arg = unit[1] | more;
            more = op == EXTENDED_ARG && arg < 1 << 20 ? arg << 8 : 0;
            note(names, s->code, op, arg, is_near(&p, &failed));
        }
    }
    if (!bytes)
        PyErr_Clear();
    Py_XDECREF(bytes);
}

/* ---- their values ---- */

static PyObject *of_cell(PyObject *o)
{
    return o && PyCell_Check(o) ? PyCell_GET(o) : o;
}

/* *ret_name: the variable's name, or NULL. Borrowed; NULL: it has no value, or is no variable of the
 * program. */
static PyObject *value_of(const struct spot *s, const struct name *n, PyObject **ret_name)
{
    const _PyInterpreterFrame *f = s->frame->f_frame;
    if (n->op == LOAD_NAME || n->op == LOAD_GLOBAL) {
        *ret_name = name_at(s->code->co_names, n->op == LOAD_GLOBAL ? n->arg >> 1 : n->arg);
        if (!*ret_name || !PyUnicode_CheckExact(*ret_name))
            return *ret_name = NULL;
        PyObject *found = n->op == LOAD_NAME ? value_in_dict(f->f_locals, *ret_name) : NULL;
        return found ? found : value_in_dict(f->f_globals, *ret_name);
    }
    *ret_name = name_at(s->code->co_localsplusnames, n->arg);
    if (!*ret_name || !PyUnicode_CheckExact(*ret_name) || n->arg >= s->code->co_nlocalsplus)
        return *ret_name = NULL;
    return n->op == LOAD_FAST ? f->localsplus[n->arg] : of_cell(f->localsplus[n->arg]);
}

/* A function or a module tells nothing by its value. */
static bool is_told(PyObject *o)
{
    return !PyModule_Check(o) && !PyFunction_Check(o) && !PyCFunction_Check(o) &&
           !PyType_Check(o) && !PyMethod_Check(o);
}

static bool is_unassigned(const struct name *n, PyObject *name)
{
    return name && n->op != LOAD_NAME && n->op != LOAD_GLOBAL;
}

static void tell(struct value_text *t, const struct spot *s, const struct name *n)
{
    PyObject *name, *o = value_of(s, n, &name);
    struct value_text before = *t;
    if (!name || (!o && !is_unassigned(n, name)))
        return;
    value_add(t, "V\t");
    value_add_str(t, name, NAME_SHOWN);
    bool secret = value_is_secret(name);
    for (size_t i = 0; o && i < CHAIN_MAX && n->chain[i]; i++) {
        PyObject *next = PyUnicode_CheckExact(n->chain[i]) ? value_attribute(o, n->chain[i]) : NULL;
        if (!next)
            break;
        secret = secret || value_is_secret(n->chain[i]);
        value_add(t, ".");
        value_add_str(t, n->chain[i], NAME_SHOWN);
        o = next;
    }
    value_add(t, "\t");
    if (o && is_told(o))
        value_describe(t, o, secret);
    else
        value_add(t, "unbound\t\t\t\t\t");
    value_add(t, "\n");
    if (t->full || (o && !is_told(o))) { /* a whole line or nothing */
        *t = before;
        *t->at = '\0';
    }
}

static bool is_earlier(const struct names *names, size_t i)
{
    const struct name *n = &names->all[i];
    for (size_t k = 0; k < i; k++)
        if (names->all[k].op == n->op && names->all[k].arg == n->arg &&
            memcmp((const void *)names->all[k].chain, (const void *)n->chain, sizeof n->chain) == 0)
            return true;
    return false;
}

/* First the names in the expression that failed. */
static void tell_frame(struct value_text *t, const struct spot *s)
{
    struct names names = { .n = 0 };
    names_of(s, &names);
    value_add(t, "F\t%d\t", s->line);
    value_add_str(t, s->code->co_name, NAME_SHOWN);
    value_add(t, "\t");
    value_add_str(t, s->code->co_filename, FILE_SHOWN);
    value_add(t, "\n");
    size_t shown = 0;
    for (int near = 1; near >= 0; near--)
        for (size_t i = 0; i < names.n && shown < SHOWN_MAX; i++) {
            const char *from = t->at;
            if (names.all[i].near == near && !is_earlier(&names, i))
                tell(t, s, &names.all[i]);
            shown += t->at > from;
        }
}

/* ---- the frames ---- */

static bool holds(PyObject *text, const char *part)
{
    char bytes[FILE_SHOWN + 1];
    struct value_text t = { .at = bytes, .end = bytes + sizeof bytes };
    bytes[0] = '\0';
    value_add_str(&t, text, FILE_SHOWN);
    return strstr(bytes, part);
}

/* Not in a library. */
static bool is_ours(PyCodeObject *code)
{
    static const char *const others[] = { "<frozen ", "/lib/python", "/dist-packages/",
                                          "/site-packages/", "/opt/belljar/" };
    if (!PyUnicode_Check(code->co_filename) || !PyUnicode_Check(code->co_name))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (holds(code->co_filename, others[i]))
            return false;
    return true;
}

static struct spot spot_of(const PyTracebackObject *tb)
{
    struct spot s = { .frame = tb->tb_frame, .unit = tb->tb_lasti / 2, .line = tb->tb_lineno };
    s.code = s.frame && s.frame->f_frame ? s.frame->f_frame->f_code : NULL;
    return s;
}

static void note_traceback(PyObject *traceback)
{
    struct spot last = { 0 }, caller = { 0 };
    const PyTracebackObject *tb = (const PyTracebackObject *)traceback;
    n_told = 0;
    if (!traceback || !PyTraceBack_Check(traceback))
        return;
    for (int i = 0; tb && i < FRAMES_SEEN; i++, tb = tb->tb_next) {
        struct spot s = spot_of(tb);
        if (!s.code || !is_ours(s.code))
            continue;
        caller = last;
        last = s;
    }
    struct value_text t = { .at = told, .end = told + sizeof told };
    if (!last.code)
        return;
    value_add(&t, "Values\n");
    tell_frame(&t, &last);
    if (caller.code)
        tell_frame(&t, &caller);
    n_told = (size_t)(t.at - told);
}

void values_begin(char *given)
{
    slate = given;
    program = getpid();
}

void values_begin_in(const char *directory)
{
    char real[PATH_MAX];
    if (!realpath(directory, real) ||
        snprintf(path, sizeof path, "%s/%s", real, WHEREABOUTS_FILE) >= (int)sizeof path)
        return;
    values_begin(NULL);
}

void values_note_traceback(PyObject *traceback)
{
    if (getpid() == program)
        note_traceback(traceback);
}

void values_note(void)
{
    PyObject *type, *value, *trace;
    if (getpid() != program)
        return;
    PyErr_Fetch(&type, &value, &trace);
    note_traceback(trace);
    PyErr_Restore(type, value, trace);
}

PyObject *values_of_traceback(PyObject *self, PyObject *traceback)
{
    (void)self;
    note_traceback(traceback);
    return PyBytes_FromStringAndSize(told, (Py_ssize_t)n_told);
}

/* The disk may be full, or a limit for files may be set: then there is no file. */
void values_leave(void)
{
    if (n_told > 0 && slate)
        memcpy(slate, told, n_told);
    if (n_told == 0 || slate || getpid() != program)
        return;
    (void)signal(SIGXFSZ, SIG_IGN);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    if (write(fd, told, n_told) != (ssize_t)n_told && ftruncate(fd, 0) < 0)
        (void)unlink(path);
    (void)close(fd);
}
