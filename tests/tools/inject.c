/* inject PID CALL...   makes another process call the kernel, as code that an attacker runs in it would.
 * Runs as root, from the tests of confinement. It stops the main thread of PID, lets it make each call
 * with its own rights, prints the answers, one on a line, and lets it go on as if nothing had happened.
 *   open:PATH read-write:PATH execve:PATH socket:FAMILY mmap-exec prctl:OPTION kill:PID call:NUMBER
 * An answer is the name of an errno, or a number: descriptors are closed again. x86-64 only. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { SCRATCH = 4096, TEXT_MAX = 512 }; /* below the stack of the process, past its red zone */
enum { SYSCALL_SIZE = 2 };

static void die(const char *what)
{
    perror(what);
    exit(2);
}

#ifdef __x86_64__
static long held_signal;

/* The process waits in a system call, so the instruction before its next one is `syscall`. */
static long call(pid_t pid, const struct user_regs_struct *saved, long number, const long a[6])
{
    struct user_regs_struct r = *saved;
    int status;
    r.rip -= SYSCALL_SIZE;
    r.rax = (unsigned long)number;
    r.orig_rax = (unsigned long)-1; /* no call to start again */
    r.rdi = (unsigned long)a[0];
    r.rsi = (unsigned long)a[1];
    r.rdx = (unsigned long)a[2];
    r.r10 = (unsigned long)a[3];
    r.r8 = (unsigned long)a[4];
    r.r9 = (unsigned long)a[5];
    const unsigned long from = r.rip;
    if (ptrace(PTRACE_SETREGS, pid, NULL, &r) < 0)
        die("set registers");
    while (r.rip ==
           from) { /* a signal that arrives stops it before the call; it gets it at the end */
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 || waitpid(pid, &status, __WALL) != pid)
            die("step");
        if (!WIFSTOPPED(status)) {
            printf("gone\n");
            exit(1);
        }
        if (WSTOPSIG(status) != SIGTRAP)
            held_signal = WSTOPSIG(status);
        if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0)
            die("get registers");
    }
    return (long)r.rax;
}

static long put_text(pid_t pid, const struct user_regs_struct *saved, const char *text)
{
    unsigned long at = (saved->rsp - SCRATCH) & ~15UL;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process */
    struct iovec from = { (void *)text, strlen(text) + 1 }, to = { (void *)at, strlen(text) + 1 };
    if (strlen(text) >= TEXT_MAX || process_vm_writev(pid, &from, 1, &to, 1, 0) < 0)
        die("write into the process");
    return (long)at;
}

static long perform(pid_t pid, const struct user_regs_struct *saved, const char *verb,
                    const char *arg)
{
    const long number = strtol(arg, NULL, 0);
    const bool is_path = *arg == '/';
    const long text = is_path ? put_text(pid, saved, arg) : 0;
    const struct {
        const char *verb;
        long number, args[6];
        bool is_fd;
    } calls[] = {
        { "open", SYS_openat, { AT_FDCWD, text, O_RDONLY }, true },
        { "read-write", SYS_openat, { AT_FDCWD, text, O_RDWR | O_CREAT, 0600 }, true },
        { "execve", SYS_execve, { text, 0, 0 }, false },
        { "socket", SYS_socket, { number, SOCK_STREAM, 0 }, true },
        { "mmap-exec",
          SYS_mmap,
          { 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 },
          false },
        { "prctl", SYS_prctl, { number, 0, 0, 0, 0 }, false },
        { "kill", SYS_kill, { number, 0 }, false },
        { "call", number, { -1, -1, -1, -1, -1, -1 }, false },
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(calls[i].verb, verb) != 0)
            continue;
        long got = call(pid, saved, calls[i].number, calls[i].args);
        if (got >= 0 && calls[i].is_fd)
            (void)call(pid, saved, SYS_close, (const long[6]){ got });
        return got;
    }
    fprintf(stderr, "inject: %s: there is no such call\n", verb);
    exit(2);
}

int main(int argc, char **argv)
{
    struct user_regs_struct saved;
    int status;
    pid_t pid = argc > 2 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
    if (pid <= 1) {
        fprintf(stderr, "usage: inject PID CALL[:ARGUMENT]...\n");
        return 2;
    }
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 ||
        ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || waitpid(pid, &status, __WALL) != pid ||
        ptrace(PTRACE_GETREGS, pid, NULL, &saved) < 0)
        die("stop the process");
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process */
    long code = ptrace(PTRACE_PEEKTEXT, pid, (void *)(saved.rip - SYSCALL_SIZE), NULL);
    if ((code & 0xffff) != 0x050f) {
        fprintf(stderr, "inject: the process does not wait in a system call\n");
        return 3; /* the kernel lets it go on when we end */
    }
    for (int i = 2; i < argc; i++) {
        char *arg = strchr(argv[i], ':');
        if (arg)
            *arg++ = '\0';
        long got = perform(pid, &saved, argv[i], arg ? arg : "");
        if (got < 0 && got > -4096)
            printf("%s\n", strerrorname_np((int)-got));
        else
            printf("%ld\n", got);
    }
    if (ptrace(PTRACE_SETREGS, pid, NULL, &saved) < 0 ||
        ptrace(PTRACE_DETACH, pid, NULL, held_signal) < 0)
        die("let the process go");
    return 0;
}
#else
int main(void)
{
    fprintf(stderr, "inject: only for x86-64\n");
    return 2;
}
#endif
