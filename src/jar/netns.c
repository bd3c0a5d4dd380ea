#include "jar/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"

/* A connection over the loopback interface is made in a soft interrupt, where the kernel charges no
 * cgroup: neither for the socket nor for the data that arrives before accept(). So a queue of
 * connections is short, and a socket that nobody reads holds little. A socket that is read grows up
 * to the last number of tcp_rmem, and is on the account of the jar. That number is small, because
 * large buffers of a few connections fill that account, and then all of them are slow. Nothing gets lost on a
 * loopback interface: an algorithm that paces its packets by timers (bbr) costs twice the CPU time. */
static const struct {
    const char *file, *text;
    bool optional; /* kernels before 6.6 hide it in a user namespace: the watch is the bound then */
} bounds[] = {
    { "/proc/sys/net/core/somaxconn", "128", true },
    { "/proc/sys/net/ipv4/tcp_rmem", "4096 8192 262144", false },
    { "/proc/sys/net/ipv4/tcp_wmem", "4096 16384 262144", false },
    { "/proc/sys/net/ipv4/tcp_max_tw_buckets", "256", false },
    { "/proc/sys/net/ipv4/tcp_max_syn_backlog", "128", false },
    { "/proc/sys/net/ipv4/tcp_congestion_control", "reno", false },
};

int netns_set_bounds(struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        if (fd_write_file(AT_FDCWD, bounds[i].file, bounds[i].text, e) &&
            !(bounds[i].optional && e->sys == ENOENT))
            return err_wrap(e, "bound the network of a jar");
    return 0;
}

int netns_loopback_up(struct err *e)
{
    struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
        return err_set(e, ERR_KERNEL, errno, "bring up the loopback interface");
    return 0;
}

bool netns_can_return(int *own_net_fd)
{
    if (setns(*own_net_fd, CLONE_NEWNET) == 0)
        return true;
    if (unshare(CLONE_NEWNET) < 0)
        return false;
    fd_close(own_net_fd);
    *own_net_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    return *own_net_fd >= 0 && setns(*own_net_fd, CLONE_NEWNET) == 0;
}

void netns_return(int own_net_fd)
{
    if (setns(own_net_fd, CLONE_NEWNET) < 0)
        abort(); /* our next jar would be in this network: such a warden must not go on */
}
