#include "bench/bench_world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "bench/bench_dns.h"
#include "bench/die.h"

enum { BACKLOG = 4096, EVENTS = 64, CHUNK = 1 << 20 };

/* ---- the servers ---- */

static int listen_at(int port)
{
    const int one = 1;
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
        bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, BACKLOG) < 0)
        _exit(1);
    return fd;
}

static void send_stream(int fd)
{
    static char bytes[CHUNK];
    for (size_t left = WORLD_STREAM_MIB * (size_t)(1 << 20); left > 0;) {
        ssize_t n = send(fd, bytes, left < sizeof bytes ? left : sizeof bytes, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        left -= (size_t)n;
    }
    (void)shutdown(fd, SHUT_WR);
    (void)!read(fd, bytes, 1);
}

/* A connection that begins is greeted. One that ends is closed. */
static void serve_hello(int epoll_fd, int listener)
{
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };
        (void)send(fd, "hello", 5, MSG_NOSIGNAL);
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
            (void)close(fd);
    }
}

static void serve_stream(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    pid_t pid = fd >= 0 ? fork() : -1;
    if (pid == 0) {
        send_stream(fd);
        _exit(0);
    }
    if (fd >= 0)
        (void)close(fd);
}

static void watch(int epoll_fd, int fd)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };
    if (fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
        _exit(1);
}

/* The near namespace stands for the machine: a connection that arrives here got through. */
_Noreturn static void serve_near(int ready_fd, struct dns_counts *questions)
{
    char byte = 'r';
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    int hello = listen_at(WORLD_HELLO_PORT), names = dns_listen();
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    watch(epoll_fd, hello);
    watch(epoll_fd, names);
    if (write(ready_fd, &byte, 1) != 1)
        _exit(1);
    for (;;) {
        struct epoll_event ev;
        char bytes[256];
        if (epoll_wait(epoll_fd, &ev, 1, -1) != 1)
            continue;
        if (ev.data.fd == hello)
            serve_hello(epoll_fd, hello);
        else if (ev.data.fd == names)
            dns_serve(names, questions);
        else if (recv(ev.data.fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0)
            (void)close(ev.data.fd);
    }
}

_Noreturn static void serve(int ready_fd, int go_fd, struct dns_counts *questions)
{
    char byte = 'r';
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)signal(SIGCHLD, SIG_IGN);
    if (unshare(CLONE_NEWNET) < 0 || write(ready_fd, &byte, 1) != 1 || read(go_fd, &byte, 1) != 1)
        _exit(1);
    int hello = listen_at(WORLD_HELLO_PORT), stream = listen_at(WORLD_STREAM_PORT);
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    const int listeners[] = { hello, stream, dns_listen() };
    for (size_t i = 0; i < ARRAY_LEN(listeners); i++)
        watch(epoll_fd, listeners[i]);
    if (write(ready_fd, &byte, 1) != 1)
        _exit(1);
    for (;;) {
        struct epoll_event events[EVENTS];
        int n = epoll_wait(epoll_fd, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            char bytes[256];
            if (fd == hello)
                serve_hello(epoll_fd, hello);
            else if (fd == stream)
                serve_stream(stream);
            else if (fd == listeners[2])
                dns_serve(fd, questions);
            else if (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0)
                (void)close(fd);
        }
    }
}

/* ---- the namespaces ---- */

static bool run_ip(const char *const argv[])
{
    pid_t pid = fork();
    int status = 1;
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        (void)dup2(null, 1);
        (void)dup2(null, 2);
        (void)execvp("ip", (char *const *)argv);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0;
}

static bool connect_worlds(pid_t servers)
{
    char pid[16];
    (void)snprintf(pid, sizeof pid, "%d", (int)servers);
    const char *const commands[][14] = {
        { "ip", "link", "set", "lo", "up" },
        { "ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", pid },
        { "ip", "addr", "add", WORLD_NEAR_PREFIX, "dev", "near" },
        { "ip", "link", "set", "near", "up" },
        { "ip", "route", "add", "default", "via", WORLD_ADDRESS },
    };
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (!run_ip(commands[i]))
            return false;
    return true;
}

static bool set_far_up(int near_fd, pid_t servers)
{
    static const char *const commands[][8] = {
        { "ip", "link", "set", "lo", "up" },
        { "ip", "addr", "add", "203.0.113.2/24", "dev", "far" },
        { "ip", "link", "set", "far", "up" },
        /* It is every other host, name servers included. */
        { "ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo" },
    };
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/net", (int)servers);
    autoclose int far_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (far_fd < 0 || setns(far_fd, CLONE_NEWNET) < 0)
        return false;
    bool up = true;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        up = up && run_ip(commands[i]);
    return setns(near_fd, CLONE_NEWNET) == 0 && up;
}

static bool start_near(struct bench_world *w, int ready_fd, int ready_end)
{
    char byte;
    w->near_servers = fork();
    if (w->near_servers == 0)
        serve_near(ready_end, w->questions);
    return w->near_servers > 0 && read(ready_fd, &byte, 1) == 1;
}

static bool build(struct bench_world *w, int ready_fd, int go_fd)
{
    char byte;
    if (read(ready_fd, &byte, 1) != 1 || unshare(CLONE_NEWNET) < 0)
        return false;
    autoclose int near_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    return near_fd >= 0 && connect_worlds(w->servers) && set_far_up(near_fd, w->servers) &&
           write(go_fd, "g", 1) == 1 && read(ready_fd, &byte, 1) == 1;
}

bool world_enter(struct bench_world *w, char *why, size_t size)
{
    int ready[2], go[2];
    struct err e = { 0 };
    *w = (struct bench_world){ .own_net_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC) };
    w->questions = mmap(NULL, sizeof *w->questions, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w->questions == MAP_FAILED || w->own_net_fd < 0 || fd_pipe(ready, &e) || fd_pipe(go, &e))
        bench_die("a network namespace", NULL);
    autoclose int ready_fd = ready[0], ready_end = ready[1], go_end = go[0], go_fd = go[1];
    (void)fflush(stdout);
    w->servers = fork();
    if (w->servers == 0)
        serve(ready_end, go_end, w->questions);
    fd_close(&go_end);
    if (w->servers > 0 && build(w, ready_fd, go_fd) && start_near(w, ready_fd, ready_end))
        return true;
    (void)snprintf(why, size, "it needs root, network namespaces and the command ip");
    world_leave(w);
    return false;
}

void world_leave(struct bench_world *w)
{
    const pid_t servers[] = { w->servers, w->near_servers };
    for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
        if (servers[i] <= 0)
            continue;
        (void)kill(servers[i], SIGKILL);
        while (waitpid(servers[i], NULL, 0) < 0 && errno == EINTR)
            ;
    }
    (void)munmap(w->questions, sizeof *w->questions);
    if (w->own_net_fd >= 0 && setns(w->own_net_fd, CLONE_NEWNET) < 0)
        bench_die("return to the network of the machine", NULL);
    fd_close(&w->own_net_fd);
    w->servers = w->near_servers = 0;
}
