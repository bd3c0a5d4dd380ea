#include "guests/sql/sqlite_image.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guests/session/descriptors.h"
#include "image/inodes.h"

enum { ROLES = 4, CHANNEL_ROLE = 3, FD_BITS = 16, SEQ_BITS = 32 };

static struct descriptor_roles roles;
static struct descriptor_plan plan;
static pid_t writer;

void sqlite_images_begin(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (!vfs || vfs->iVersion < 3 || !vfs->xSetSystemCall)
        return;
    (void)vfs->xSetSystemCall(vfs, "stat", (sqlite3_syscall_ptr)image_inodes_stat);
    (void)vfs->xSetSystemCall(vfs, "fstat", (sqlite3_syscall_ptr)image_inodes_fstat);
}

/* After the descriptors of the plan are open again. */
static void learn_inodes(void)
{
    struct image_renamed *rows = calloc(plan.n + 1, sizeof *rows);
    size_t n = 0;
    if (!rows)
        _exit(1); /* better than a database that SQLite takes for another one */
    for (size_t i = 0; i < plan.n; i++) {
        const struct descriptor_row *d = &plan.rows[i];
        if (d->fate == FATE_REOPENED || d->fate == FATE_REFILLED)
            rows[n++] = (struct image_renamed){ image_inode_of(d->number),
                                                { d->identity.device, d->identity.inode } };
    }
    image_inodes_renew(rows, n);
}

/* ---- the image ---- */

static void learn_roles(const struct channel *c)
{
    roles.n = ROLES;
    for (int i = 0; i < CHANNEL_ROLE; i++)
        roles.is[i] = descriptor_identity_of(i);
    roles.is[CHANNEL_ROLE] = descriptor_identity_of(c->fd);
}

static int look(void *context, const struct message *m, struct image_losses *losses,
                char why[IMAGE_WHY])
{
    if (writer > 0 && image_reap(writer))
        writer = 0;
    const struct process_relative ours[] = { { .pid = writer } };
    learn_roles(context);
    int failed = descriptor_plan_make(&plan, &roles, m->fds, m->n_fds, losses, why);
    descriptor_plan_free(&plan);
    tell_other_processes(ours, writer > 0, losses);
    return failed;
}

static void keep_quiet(struct image_losses *l, const char *name)
{
    (void)l;
    (void)name;
}

static void went_on(struct channel *c, uint64_t cookie)
{
    const uint64_t mask = (1 << FD_BITS) - 1;
    int fd = (int)(cookie >> SEQ_BITS & mask), channel = (int)(cookie >> (SEQ_BITS + FD_BITS));
    const int ours[ROLES] = { 0, 1, 2, channel };
    descriptor_plan_restore(&plan, ours, ROLES, fd);
    learn_inodes();
    sqlite3_randomness(0, NULL); /* new seeds */
    c->seq = (uint32_t)cookie;
    writer = 0;
}

static enum image_outcome write_image(void *context, const struct image_target *t,
                                      char why[IMAGE_WHY])
{
    struct channel *c = context;
    struct image_losses quiet = { .add = keep_quiet };
    struct image_written w = { 0 };

    uint64_t end = t->at;
    int failed = descriptor_plan_make(&plan, &roles, t->fds, t->n_fds, &quiet, why) ||
                 descriptor_plan_store(&plan, t->fd, &end, t->room, why) ||
                 image_write(t->fd, end, t->room, t->report, &t->bases, &w, why);
    if (w.became)
        went_on(c, w.cookie);
    else if (!failed)
        writer = w.writer;
    descriptor_plan_free(&plan);
    return failed ? IMAGE_FAILED : w.became ? IMAGE_BECAME : IMAGE_WRITTEN;
}

static int become(void *context, int fd, const struct image_bases *bases, char why[IMAGE_WHY])
{
    const struct channel *c = context;
    image_become(fd, bases,
                 (uint64_t)c->fd << (SEQ_BITS + FD_BITS) | (uint64_t)fd << SEQ_BITS | c->seq, why);
    return -1;
}

const struct image_ops sqlite_images = {
    .version = "SQLite " SQLITE_VERSION, .look = look, .write = write_image, .become = become
};
