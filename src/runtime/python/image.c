/* runtime/python/image.c — the part of a Python session in C: images of the process (image/image.h),
 * and descriptors that come with a message. A module that the session program imports.
 * Runs in: a session program. */
#include "runtime/python/guest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "image/bounds.h"
#include "image/descriptors.h"
#include "image/files.h"
#include "image/image.h"
#include "image/inodes.h"

enum {
    FDS_MAX = 2 + IMAGE_BASES_MAX, /* of the largest request, for an image */
    NUMBERS_MAX = 64,
};

static PyObject *refuse(const char *why)
{
    PyErr_SetString(PyExc_RuntimeError, why);
    return NULL;
}

static PyObject *list_fds(struct msghdr *msg)
{
    PyObject *list = PyList_New(0);
    struct cmsghdr *head = CMSG_FIRSTHDR(msg);
    if (!list || !head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return list;
    size_t n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
        PyObject *number = PyLong_FromLong(fd);
        if (!number || PyList_Append(list, number) < 0)
            (void)close(fd);
        Py_XDECREF(number);
    }
    return list;
}

/* receive(fd, size): the bytes of one packet, and the descriptors that came with it. */
static PyObject *receive(PyObject *module, PyObject *args)
{
    (void)module;
    static bool has_begun;
    int fd;
    Py_ssize_t size;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    if (!PyArg_ParseTuple(args, "in", &fd, &size))
        return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, size);
    if (!bytes)
        return NULL;
    if (!has_begun) /* the session waits for its first message */
        image_bounds_begin();
    has_begun = true;
    struct iovec iov = { PyBytes_AS_STRING(bytes), (size_t)size };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n;
    do {
        Py_BEGIN_ALLOW_THREADS;
        n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
        Py_END_ALLOW_THREADS;
    } while (n < 0 && errno == EINTR && PyErr_CheckSignals() == 0);
    if (n < 0) {
        Py_DECREF(bytes);
        return PyErr_Occurred() ? NULL : PyErr_SetFromErrno(PyExc_OSError);
    }
    PyObject *fds = list_fds(&msg);
    if (!fds || _PyBytes_Resize(&bytes, n) < 0) {
        Py_XDECREF(bytes);
        Py_XDECREF(fds);
        return NULL;
    }
    return Py_BuildValue("NN", bytes, fds);
}

struct losses {
    struct image_losses base; /* the first member */
    PyObject *list;
    bool failed;
};

static void add_loss(struct image_losses *base, const char *name)
{
    struct losses *l = (struct losses *)base;
    PyObject *text = PyUnicode_DecodeFSDefault(name);
    l->failed = l->failed || !text || PyList_Append(l->list, text) < 0;
    Py_XDECREF(text);
}

/* Of the image that is being written; in its memory, too. */
static struct image_descriptors *descriptors;

/* Numbers of descriptors: a converter of arguments. */
struct number_list {
    int of[NUMBERS_MAX];
    size_t n;
};
static int take_numbers(PyObject *list, void *to)
{
    struct number_list *numbers = to;
    Py_ssize_t n = PySequence_Size(list);
    if (n < 0)
        return 0;
    numbers->n = 0;
    for (Py_ssize_t i = 0; i < n && i < NUMBERS_MAX; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        numbers->of[numbers->n++] = item ? PyObject_AsFileDescriptor(item) : -1;
        Py_XDECREF(item);
    }
    return !PyErr_Occurred();
}

/* take(ours, skipped, is_still, list): records the descriptors and the working directory, for the image. ours:
 * stdin, stdout, stderr and the channel. is_still: no other thread uses files. The names of things that
 * cannot be carried go to the list. */
static PyObject *take(PyObject *module, PyObject *args)
{
    (void)module;
    struct number_list ours, skipped;
    int is_still;
    struct image_roles roles;
    struct losses losses = { .base.add = add_loss };
    char why[IMAGE_WHY] = "there is no memory for the list of its descriptors";
    if (!PyArg_ParseTuple(args, "O&O&pO!", take_numbers, &ours, take_numbers, &skipped, &is_still,
                          &PyList_Type, &losses.list))
        return NULL;
    if (ours.n != IMAGE_ROLES)
        return refuse("a descriptor of the session is missing");
    image_roles_find(&roles, ours.of);
    descriptors = descriptors ? descriptors : image_descriptors_new();
    if (!descriptors || image_descriptors_take(descriptors, &roles, is_still, skipped.of, skipped.n,
                                               &losses.base, why))
        return refuse(why);
    image_bounds_take(&losses.base);
    if (losses.failed)
        return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

/* children(list, writers): adds the names of the processes that this one started. */
static PyObject *children(PyObject *module, PyObject *args)
{
    (void)module;
    struct losses losses = { .base.add = add_loss };
    struct number_list skipped;
    if (!PyArg_ParseTuple(args, "O!O&", &PyList_Type, &losses.list, take_numbers, &skipped))
        return NULL;
    image_children(skipped.of, skipped.n, &losses.base);
    if (losses.failed)
        return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

/* Descriptors of earlier images: a converter of arguments. */
static int take_bases(PyObject *list, void *to)
{
    struct image_bases *bases = to;
    struct number_list numbers;
    if (!take_numbers(list, &numbers))
        return 0;
    *bases = (struct image_bases){ 0 };
    for (size_t i = 0; i < numbers.n && i < IMAGE_BASES_MAX; i++)
        bases->fds[bases->n++] = numbers.of[i];
    return 1;
}

/* pack(fd, bases, room, list): writes the files of the session. The name of each file that cannot be
 * carried goes to the list. Returns the offset behind the files, and the bases that they need. */
static PyObject *pack(PyObject *module, PyObject *args)
{
    (void)module;
    int fd;
    unsigned long long room;
    uint64_t end;
    char why[IMAGE_WHY] = "";
    struct losses losses = { .base.add = add_loss };
    struct image_bases bases;
    if (!PyArg_ParseTuple(args, "iO&KO!", &fd, take_bases, &bases, &room, &PyList_Type,
                          &losses.list))
        return NULL;
    int rc = image_files_pack(fd, &bases, image_places, room, &losses.base, &end, why);
    if (losses.failed)
        return NULL;
    return rc ? refuse(why) : Py_BuildValue("KI", (unsigned long long)end, bases.used);
}

/* unpack(fd, bases): in place of the files that are there. */
static PyObject *unpack(PyObject *module, PyObject *args)
{
    (void)module;
    int fd;
    char why[IMAGE_WHY] = "";
    struct image_bases bases;
    if (!PyArg_ParseTuple(args, "iO&", &fd, take_bases, &bases))
        return NULL;
    if (image_files_unpack(fd, &bases, image_places, why))
        return refuse(why);
    Py_INCREF(Py_None);
    return Py_None;
}

static bool serves_sqlite;

/* Before an image is written, and in the zygote already: the search touches a page for each library. */
static void find_libraries(void)
{
    guest_find_generators();
    serves_sqlite = serves_sqlite || image_inodes_serve_sqlite();
}

/* find(): the first image of a session is then written as fast as the others. */
static PyObject *find(PyObject *module, PyObject *args)
{
    (void)module;
    (void)args;
    find_libraries();
    Py_INCREF(Py_None);
    return Py_None;
}

/* The module sqlite3 knows its files by their numbers. */
static void renew_inodes(void)
{
    if (!serves_sqlite)
        return;
    struct image_renamed *rows = calloc(IMAGE_DESCRIPTORS_MAX, sizeof *rows);
    if (!rows)
        _exit(1); /* better than a database that SQLite takes for another one */
    image_inodes_renew(rows, image_descriptors_renamed(descriptors, rows, IMAGE_DESCRIPTORS_MAX));
}

/* write(fd, bases, used, at, room, report_fd), after take(): (False, pid of the writer, microseconds);
 * in a process that became the image, which has its descriptors again, (True, frames sent, 0). There,
 * freshen() comes before any code of the guest. */
static PyObject *write_image(PyObject *module, PyObject *args)
{
    (void)module;
    int fd, report_fd;
    unsigned long long at, room;
    char why[IMAGE_WHY] = "";
    struct image_written w;
    struct image_bases bases;
    unsigned used;
    if (!PyArg_ParseTuple(args, "iO&IKKi", &fd, take_bases, &bases, &used, &at, &room, &report_fd))
        return NULL;
    if (!descriptors)
        return refuse("nothing is known of its descriptors");
    bases.used = used;
    find_libraries();
    PyOS_BeforeFork();
    int rc = image_write(fd, at, room, report_fd, &bases, &w, why);
    if (rc || !w.became) {
        PyOS_AfterFork_Parent();
        return rc ? refuse(why)
                  : Py_BuildValue("OiK", Py_False, (int)w.writer, (unsigned long long)w.pause_us);
    }
    image_descriptors_restore(descriptors, (int)(w.cookie >> 32));
    image_bounds_restore();
    renew_inodes();
    PyOS_AfterFork_Child();
    return Py_BuildValue("OKi", Py_True, (unsigned long long)(w.cookie & UINT32_MAX), 0);
}

/* freshen(): random values of its own for everything that could share them. */
static PyObject *freshen(PyObject *module, PyObject *args)
{
    (void)module;
    (void)args;
    guest_freshen();
    Py_INCREF(Py_None);
    return Py_None;
}

/* become(fd, bases, cookie): returns only by RuntimeError. */
static PyObject *become(PyObject *module, PyObject *args)
{
    (void)module;
    int fd;
    unsigned long long cookie;
    char why[IMAGE_WHY] = "";
    struct image_bases bases;
    if (!PyArg_ParseTuple(args, "iO&K", &fd, take_bases, &bases, &cookie))
        return NULL;
    image_become(fd, &bases, cookie, why);
    return refuse(why);
}

/* reap(pid): True once the writer is gone. */
static PyObject *reap(PyObject *module, PyObject *args)
{
    (void)module;
    int pid;
    if (!PyArg_ParseTuple(args, "i", &pid))
        return NULL;
    return PyBool_FromLong(image_reap(pid));
}

static PyMethodDef methods[] = {
    { "receive", receive, METH_VARARGS, NULL },
    { "take", take, METH_VARARGS, NULL },
    { "children", children, METH_VARARGS, NULL },
    { "pack", pack, METH_VARARGS, NULL },
    { "unpack", unpack, METH_VARARGS, NULL },
    { "write", write_image, METH_VARARGS, NULL },
    { "find", find, METH_NOARGS, NULL },
    { "freshen", freshen, METH_NOARGS, NULL },
    { "become", become, METH_VARARGS, NULL },
    { "reap", reap, METH_VARARGS, NULL },
    { 0 },
};

static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "_belljar_image",
                                         .m_size = -1, .m_methods = methods };

PyMODINIT_FUNC PyInit__belljar_image(void);
PyMODINIT_FUNC PyInit__belljar_image(void)
{
    guest_prefer_huge_pages();
    return PyModule_Create(&definition);
}
