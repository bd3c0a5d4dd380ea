/* runtime/python/collector.c — hides the zygote's objects from the garbage collector. Otherwise the
 * first collection in an embryo would write to all of them and copy their pages. Unlike gc.freeze()
 * this can be undone exactly: before an end that a program can notice, every object is back in its
 * generation and in its order, because the order decides which object is destroyed first. Counts
 * and statistics stay, so that collections happen when they would. */
#include "runtime/python/internals.h"

static struct {
    PyGC_Head lists[NUM_GENERATIONS];
    struct gc_generation_stats stats[NUM_GENERATIONS];
} frozen;

static struct _gc_runtime_state *collector(void)
{
    return &PyInterpreterState_Get()->gc;
}

static void list_init(PyGC_Head *list)
{
    _PyGCHead_SET_NEXT(list, list);
    _PyGCHead_SET_PREV(list, list);
}

static bool list_is_empty(PyGC_Head *list)
{
    return _PyGCHead_NEXT(list) == list;
}

static void join(PyGC_Head *first, PyGC_Head *second)
{
    _PyGCHead_SET_NEXT(first, second);
    _PyGCHead_SET_PREV(second, first);
}

/* Moves all of `from` in front of the objects in `to`. `from` is empty afterwards. */
static void list_put_before(PyGC_Head *from, PyGC_Head *to)
{
    if (list_is_empty(from))
        return;
    PyGC_Head *first = _PyGCHead_NEXT(from), *last = _PyGCHead_PREV(from);
    join(last, _PyGCHead_NEXT(to));
    join(to, first);
    list_init(from);
}

void guest_freeze(void)
{
    struct _gc_runtime_state *gc = collector();
    for (int i = 0; i < NUM_GENERATIONS; i++) {
        list_init(&frozen.lists[i]);
        list_put_before(&gc->generations[i].head, &frozen.lists[i]);
        frozen.stats[i] = gc->generation_stats[i];
    }
}

/* The guest may search for it among all objects, and writes to it at once. */
void guest_keep_in_sight(PyObject *o, int generation)
{
    PyGC_Head *head = (PyGC_Head *)o - 1, *to = &collector()->generations[generation].head;
    join(_PyGCHead_PREV(head), _PyGCHead_NEXT(head));
    join(head, _PyGCHead_NEXT(to));
    join(to, head);
}

int guest_generation_of(PyObject *o)
{
    struct _gc_runtime_state *gc = collector();
    for (int i = 0; i < NUM_GENERATIONS; i++)
        for (PyGC_Head *at = _PyGCHead_NEXT(&gc->generations[i].head);
             at != &gc->generations[i].head; at = _PyGCHead_NEXT(at))
            if ((PyObject *)(at + 1) == o)
                return i;
    return NUM_GENERATIONS - 1;
}

/* A collection appends the surviving objects to the next generation: first its own generation, then
 * the younger ones, the youngest first. */
void guest_thaw(void)
{
    struct _gc_runtime_state *gc = collector();
    int oldest = -1; /* the oldest generation that was collected meanwhile */
    for (int i = 0; i < NUM_GENERATIONS; i++)
        if (gc->generation_stats[i].collections != frozen.stats[i].collections)
            oldest = i;
    int into = oldest < 0 || oldest == NUM_GENERATIONS - 1 ? oldest : oldest + 1;
    /* Each list goes in front of the objects already there, so the last list comes first. */
    for (int i = oldest - 1; i >= 0; i--)
        list_put_before(&frozen.lists[i], &gc->generations[into].head);
    if (oldest >= 0)
        list_put_before(&frozen.lists[oldest], &gc->generations[into].head);
    for (int i = 0; i < NUM_GENERATIONS; i++)
        list_put_before(&frozen.lists[i], &gc->generations[i].head);
}

bool guest_any_object(bool (*is_it)(const struct guest *g, PyObject *o), const struct guest *g)
{
    struct _gc_runtime_state *gc = collector();
    for (int i = 0; i < NUM_GENERATIONS; i++) {
        PyGC_Head *list = &gc->generations[i].head;
        for (PyGC_Head *at = _PyGCHead_NEXT(list); at != list; at = _PyGCHead_NEXT(at))
            if (is_it(g, (PyObject *)(at + 1)))
                return true;
    }
    return false;
}
