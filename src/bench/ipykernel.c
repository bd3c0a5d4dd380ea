#include "bench/ipykernel.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "bench/die.h"

enum { PATIENCE_MS = 120000 };

/* Answers "absent REASON", "ready", or a time. A cell is over when its reply is there and the
 * kernel says that it is idle, as in every notebook. */
static const char client[] =
    "import sys, time\n"
    "try:\n"
    "    import ipykernel\n"
    "    from jupyter_client import KernelManager\n"
    "except ImportError as e:\n"
    "    print('absent', e, flush=True)\n"
    "    sys.exit(0)\n"
    "def cell(client):\n"
    "    asked = client.execute('1+1')\n"
    "    result = None\n"
    "    while True:\n"
    "        m = client.get_iopub_msg(timeout=60)\n"
    "        if m['parent_header'].get('msg_id') != asked:\n"
    "            continue\n"
    "        if m['msg_type'] == 'execute_result':\n"
    "            result = m['content']['data']['text/plain']\n"
    "        if m['msg_type'] == 'status' and m['content']['execution_state'] == 'idle':\n"
    "            break\n"
    "    client.get_shell_msg(timeout=60)\n"
    "    assert result == '2', result\n"
    "def start():\n"
    "    manager = KernelManager()\n"
    "    manager.start_kernel()\n"
    "    client = manager.client()\n"
    "    client.start_channels()\n"
    "    client.wait_for_ready(timeout=60)\n"
    "    cell(client)\n"
    "    return manager, client\n"
    "def end(manager, client):\n"
    "    client.stop_channels()\n"
    "    manager.shutdown_kernel(now=True)\n"
    "manager, client = start()\n"
    "print('ready', flush=True)\n"
    "for line in sys.stdin:\n"
    "    begin = time.perf_counter()\n"
    "    other = start() if line == 'start\\n' else cell(client)\n"
    "    took = time.perf_counter() - begin\n"
    "    if other:\n"
    "        end(*other)\n"
    "    print(took * 1000, flush=True)\n"
    "end(manager, client)\n";

static void read_line(const struct ipykernel *k, char *line, size_t size)
{
    size_t n = 0;
    uint64_t deadline = clock_ms() + PATIENCE_MS;
    while (n + 1 < size) {
        struct pollfd p = { .fd = k->fd, .events = POLLIN };
        uint64_t now = clock_ms();
        if (now >= deadline || poll(&p, 1, (int)(deadline - now)) <= 0)
            bench_dief("the client of ipykernel did not answer within %d ms", PATIENCE_MS);
        ssize_t got = read(k->fd, line + n, 1);
        if (got <= 0 || line[n] == '\n')
            break;
        n++;
    }
    line[n] = '\0';
}

/* In the child. */
[[gnu::noreturn]] static void become_client(int fd, const char *dir)
{
    char home[512];
    (void)snprintf(home, sizeof home, "HOME=%s", dir);
    const char *const argv[] = { "/usr/bin/python3", "-c", client, NULL };
    const char *const env[] = { home, "PATH=/usr/local/bin:/usr/bin:/bin", NULL };
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) == 0 && dup2(fd, 0) == 0 && dup2(fd, 1) == 1 &&
        null >= 0 && dup2(null, 2) == 2)
        (void)execve(argv[0], (char *const *)argv, (char *const *)env);
    _exit(127);
}

bool ipykernel_open(struct ipykernel *ret, const char *dir, char *why, size_t size)
{
    int ends[2];
    char line[200];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        bench_die("socketpair", NULL);
    (void)fflush(stdout);
    ret->pid = fork();
    if (ret->pid < 0)
        bench_die("fork", NULL);
    if (ret->pid == 0)
        become_client(ends[1], dir);
    (void)close(ends[1]);
    ret->fd = ends[0];
    read_line(ret, line, sizeof line);
    if (strcmp(line, "ready") == 0)
        return true;
    static const char absent[] = "absent ";
    bool told = strncmp(line, absent, sizeof absent - 1) == 0;
    (void)snprintf(why, size, "%s (scripts/install-deps bench)",
                   told ? line + sizeof absent - 1 : "its client failed");
    ipykernel_close(ret);
    return false;
}

void ipykernel_close(struct ipykernel *k)
{
    (void)shutdown(k->fd, SHUT_WR);
    (void)waitpid(k->pid, NULL, 0);
    fd_close(&k->fd);
}

static double ask(struct ipykernel *k, const char *what)
{
    char line[200], *end;
    if (fd_write_all(k->fd, what, strlen(what)))
        bench_die("ask the client of ipykernel", NULL);
    read_line(k, line, sizeof line);
    double ms = strtod(line, &end);
    if (end == line || *end)
        bench_dief("the client of ipykernel failed: '%s'", line);
    return ms;
}

double ipykernel_cell(struct ipykernel *k)
{
    return ask(k, "cell\n");
}

double ipykernel_start(struct ipykernel *k)
{
    return ask(k, "start\n");
}
