#include "service/execute_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/text.h"
#include "run/keeper_uid.h"
#include "service/hand_over.h"

int execute_dir_open(const char *path, uid_t keeper, int *ret_fd, uid_t *ret_owner, struct err *e)
{
    char quoted[96];
    struct stat st;
    text_quote(path, quoted, sizeof quoted);
    bool made = mkdir(path, 0755) == 0;
    if (!made && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno,
                       "make '%s', the directory of /execute (execute.workspace chooses another)",
                       quoted);
    /* A directory that we created is given to the keeper, so it must not be a link that someone put
     * in its place. */
    autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (made ? O_NOFOLLOW : 0));
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno,
                       "open '%s', the directory of /execute (execute.workspace chooses another)",
                       quoted);
    if (made && st.st_uid != keeper && fchown(fd, keeper, keeper) < 0)
        return err_set(e, ERR_KERNEL, errno, "give '%s' to uid %u", quoted, keeper);
    /* The keeper of this directory had another uid: another state directory was used, or an older
     * version. A running service keeps its directory. */
    bool abandoned = !made && geteuid() == 0 && st.st_uid != keeper &&
                     keeper_uid_of_state(st.st_uid) && keeper_uid_is_free(st.st_uid);
    size_t left;
    if (abandoned && hand_over(fd, st.st_uid, keeper, &left, e))
        return err_wrap(e, "hand '%s' over to uid %u", quoted, keeper);
    /* Independent of the umask: the operator reads the results, with another uid than the
     * keeper. */
    if (made && fchmod(fd, 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "open '%s' to readers", quoted);
    *ret_owner = made || abandoned ? keeper : st.st_uid;
    *ret_fd = fd_take(&fd);
    return 0;
}
