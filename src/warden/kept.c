#include "warden/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

struct kept *kept_find(struct kept_store *s, uint64_t id)
{
    struct kept *k = s->first;
    while (k && k->id != id)
        k = k->next;
    return k;
}

struct kept *kept_next(struct kept_store *s, uint64_t after)
{
    struct kept *k = s->first;
    while (k && (k->id <= after || k->told))
        k = k->next;
    return k;
}

static struct kept *kept_new(struct kept_store *s, uint64_t id, struct err *e)
{
    struct kept **place = &s->first;
    if (s->n == KEPT_MAX) {
        (void)!err_set(e, ERR_PROTOCOL, 0, "%d sessions are kept already", KEPT_MAX);
        return NULL;
    }
    struct kept *k = calloc(1, sizeof *k);
    if (!k) {
        (void)!err_no_memory(e, "a session");
        return NULL;
    }
    for (int i = 0; i < KEEP_FDS; i++)
        k->fds[i] = -1;
    k->id = id;
    while (*place && (*place)->id < id)
        place = &(*place)->next;
    k->next = *place;
    *place = k;
    s->n++;
    return k;
}

static void forget(struct kept *k)
{
    for (int i = 0; i < KEEP_FDS; i++)
        fd_close(&k->fds[i]);
    if (k->note)
        explicit_bzero(k->note, k->note_len); /* every jar begins as a copy of this process */
    free(k->note);
    k->note = NULL;
}

int kept_put(struct kept_store *s, const struct wire_keep *w, int fds[KEEP_FDS], struct err *e)
{
    struct kept *k = kept_find(s, w->id);
    autofree char *note = malloc(w->note_len + 1);
    if (!note)
        return err_no_memory(e, "a note");
    if (!k && !(k = kept_new(s, w->id, e)))
        return -1;
    memcpy(note, w->note, w->note_len);
    forget(k);
    k->note = note;
    note = NULL;
    k->note_len = w->note_len;
    k->told = true;
    for (int i = 0; i < KEEP_FDS; i++)
        k->fds[i] = fd_take(&fds[i]);
    return 0;
}

void kept_remove(struct kept_store *s, struct kept *k)
{
    struct kept **place = &s->first;
    while (*place && *place != k)
        place = &(*place)->next;
    if (!*place)
        return;
    *place = k->next;
    s->n--;
    forget(k);
    free(k);
}

void kept_done(struct kept_store *s)
{
    while (s->first)
        kept_remove(s, s->first);
}
