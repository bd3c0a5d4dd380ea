/* image/inodes.h — inode numbers for SQLite, in a process that became an image.
 * Runs in: a session program.
 *
 * A copy of a session has copies of its files, with other inode numbers. SQLite remembers the numbers
 * of its open files, and refuses to write to a file whose number has changed. So a process that became
 * an image tells SQLite the old numbers of these files, and changes the numbers of all other files so
 * that none is mistaken for an old one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct image_inode {
    dev_t device;
    ino_t inode;
};
struct image_inode image_inode_of(int fd); /* zeros: there is none */

/* A file that is open again. */
struct image_renamed {
    struct image_inode real;  /* now */
    struct image_inode known; /* when the image was written */
};
/* After a process became an image. The rows are taken over; they come from malloc(). */
void image_inodes_renew(struct image_renamed *rows, size_t n);

/* As stat() and fstat(), with the numbers that SQLite knows. */
int image_inodes_stat(const char *path, struct stat *st);
int image_inodes_fstat(int fd, struct stat *st);

/* Whether this process has loaded the library of SQLite: then it asks these functions from now on. A
 * process that has not loaded it knows no number. */
bool image_inodes_serve_sqlite(void);
