#include "service/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/text.h"

int key_file_open(const char *path, int *ret, struct err *e)
{
    struct stat st;
    *ret = -1;
    if (!path[0])
        return 0;
    autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "images.key_file '%s' cannot be opened",
                       QUOTED(path));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_BAD_REQUEST, 0, "images.key_file '%s' is not a regular file",
                       QUOTED(path));
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "images.key_file '%s' belongs to uid %u: it must belong to the user who "
                       "starts the service, or to root",
                       QUOTED(path), st.st_uid);
    if (st.st_mode & 077)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "images.key_file '%s' has mode %04o, and others can reach the keys: 'chmod "
                       "0400' it",
                       QUOTED(path), st.st_mode & 07777);
    *ret = fd_take(&fd);
    return 0;
}
