#include "image/inodes.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GENERATION_SHIFT = 48 };

static struct {
    struct image_renamed *rows;
    size_t n;
    uint64_t generation; /* images between the first process and this one */
} inodes;

struct image_inode image_inode_of(int fd)
{
    struct stat st = { 0 };
    (void)fstat(fd, &st);
    return (struct image_inode){ st.st_dev, st.st_ino };
}

static struct image_inode known_inode(struct image_inode real)
{
    for (size_t i = 0; i < inodes.n; i++)
        if (inodes.rows[i].real.device == real.device && inodes.rows[i].real.inode == real.inode)
            return inodes.rows[i].known;
    real.inode ^= inodes.generation << GENERATION_SHIFT;
    return real;
}

static int tell_known(int rc, struct stat *st)
{
    if (rc == 0) {
        struct image_inode known = known_inode((struct image_inode){ st->st_dev, st->st_ino });
        st->st_dev = known.device;
        st->st_ino = known.inode;
    }
    return rc;
}

int image_inodes_stat(const char *path, struct stat *st)
{
    return tell_known(stat(path, st), st);
}

int image_inodes_fstat(int fd, struct stat *st)
{
    return tell_known(fstat(fd, st), st);
}

void image_inodes_renew(struct image_renamed *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[i].known = known_inode(rows[i].known);
    free(inodes.rows);
    inodes.rows = rows;
    inodes.n = n;
    inodes.generation++;
}

/* ---- the library ---- */

bool image_inodes_serve_sqlite(void)
{
    typeof(&sqlite3_vfs_find) find;
    void *library = dlopen("libsqlite3.so.0", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library ? dlsym(library, "sqlite3_vfs_find") : NULL;
    sqlite3_vfs *vfs = NULL;
    if (symbol) {
        memcpy(&find, &symbol, sizeof symbol);
        vfs = find("unix");
    }
    if (library)
        (void)dlclose(library); /* the program has it, and keeps it */
    return vfs && vfs->iVersion >= 3 && vfs->xSetSystemCall &&
           vfs->xSetSystemCall(vfs, "stat", (sqlite3_syscall_ptr)image_inodes_stat) == SQLITE_OK &&
           vfs->xSetSystemCall(vfs, "fstat", (sqlite3_syscall_ptr)image_inodes_fstat) == SQLITE_OK;
}
