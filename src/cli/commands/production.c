#include "cli/commands/production.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"

/* Judges the text of a file, without its last newline. It may replace the text by the part that
 * matters, in JUDGED_SIZE bytes. */
enum { JUDGED_SIZE = 4096 };
typedef enum production_state judge(char *text);

static enum production_state is_zero(char *text)
{
    return strcmp(text, "0") == 0 ? PRODUCTION_GOOD : PRODUCTION_BAD;
}

static enum production_state is_not_zero(char *text)
{
    return strcmp(text, "0") != 0 ? PRODUCTION_GOOD : PRODUCTION_BAD;
}

/* A head line alone: no swap. Pages of a guest, and secrets of ours, could reach the disk. */
static enum production_state has_no_swap(char *text)
{
    char *line = strchr(text, '\n');
    if (!line || line[1] == '\0') {
        (void)snprintf(text, JUDGED_SIZE, "none");
        return PRODUCTION_GOOD;
    }
    size_t n = strcspn(line + 1, " \t\n");
    memmove(text, line + 1, n);
    text[n] = '\0';
    return strncmp(text, "/dev/zram", strlen("/dev/zram")) == 0 ? PRODUCTION_GOOD : PRODUCTION_BAD;
}

static enum production_state has_no_threads(char *text)
{
    static const char *const good[] = { "off", "forceoff", "notsupported", "notimplemented" };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (strcmp(text, good[i]) == 0)
            return PRODUCTION_GOOD;
    return PRODUCTION_BAD;
}

/* A pipe or a socket hands the memory of a crashed program to a process outside the jar. */
static enum production_state core_stays(char *text)
{
    return text[0] == '|' || text[0] == '@' ? PRODUCTION_BAD : PRODUCTION_GOOD;
}

static enum production_state has_mitigations(char *text)
{
    bool off = strstr(text, "mitigations=off") || strstr(text, "nospectre_v2") ||
               strstr(text, "nopti");
    (void)snprintf(text, JUDGED_SIZE, "%s", off ? "switched off" : "not switched off");
    return off ? PRODUCTION_BAD : PRODUCTION_GOOD;
}

/* The kernel words it: "Not affected", "Mitigation: ...", "Vulnerable". */
static enum production_state is_not_vulnerable(char *text)
{
    return strncmp(text, "Vulnerable", strlen("Vulnerable")) == 0 ? PRODUCTION_BAD
                                                                  : PRODUCTION_GOOD;
}

static enum production_state is_large_enough(char *text)
{
    enum { NEEDED = 1000 };
    return strtoull(text, NULL, 10) >= NEEDED ? PRODUCTION_GOOD : PRODUCTION_BAD;
}

static enum production_state is_any(char *text)
{
    (void)snprintf(text, JUDGED_SIZE, "v2");
    return PRODUCTION_GOOD;
}

/* The hard limit, which the service raises its own to. */
static enum production_state allows_descriptors(char *text)
{
    enum { NEEDED = 16384 };
    const char *line = strstr(text, "Max open files");
    unsigned long long hard = 0;
    if (!line || sscanf(line, "Max open files %*s %llu", &hard) != 1)
        hard = line && strstr(line, "unlimited") ? ~0ULL : 0;
    (void)snprintf(text, JUDGED_SIZE, "%llu", hard);
    return hard >= NEEDED ? PRODUCTION_GOOD : PRODUCTION_BAD;
}

/* The rows are about the machine. The disk of the state is the business of GET /v1/health. */
static const struct check {
    const char *name, *path, *what, *command;
    judge *judge;
    enum production_state missing; /* if the kernel has no such file */
} checks[] = {
    { "swap", "proc/swaps", "memory of runs and of the service can reach a disk",
      "swapoff -a    # and remove it from /etc/fstab", has_no_swap, PRODUCTION_GOOD },
    { "smt", "sys/devices/system/cpu/smt/control",
      "two jars can share a core, and measure each other",
      "echo off > /sys/devices/system/cpu/smt/control    # nosmt on the kernel's command line",
      has_no_threads, PRODUCTION_GOOD },
    { "ksm", "sys/kernel/mm/ksm/run",
      "equal pages of different jars are merged, and their access times tell",
      "echo 2 > /sys/kernel/mm/ksm/run", is_zero, PRODUCTION_GOOD },
    { "mitigations", "proc/cmdline", "the CPU leaks memory across processes",
      "remove mitigations=off from the kernel's command line and reboot", has_mitigations,
      PRODUCTION_UNKNOWN },
    { "spectre", "sys/devices/system/cpu/vulnerabilities/spectre_v2",
      "this CPU leaks memory across processes",
      "update the kernel and the microcode (apt install intel-microcode amd64-microcode)",
      is_not_vulnerable, PRODUCTION_UNKNOWN },
    { "core-pattern", "proc/sys/kernel/core_pattern",
      "a process outside the jar gets the memory of a program that crashed",
      "sysctl -w kernel.core_pattern=core", core_stays, PRODUCTION_UNKNOWN },
    { "dmesg", "proc/sys/kernel/dmesg_restrict",
      "every user of the machine reads the kernel's log, with addresses and names of runs",
      "sysctl -w kernel.dmesg_restrict=1", is_not_zero, PRODUCTION_UNKNOWN },
    { "kernel-addresses", "proc/sys/kernel/kptr_restrict",
      "every user of the machine reads addresses of the kernel", "sysctl -w kernel.kptr_restrict=1",
      is_not_zero, PRODUCTION_UNKNOWN },
    { "ptrace", "proc/sys/kernel/yama/ptrace_scope",
      "a process of a user can read the memory of the others of that user",
      "sysctl -w kernel.yama.ptrace_scope=1", is_not_zero, PRODUCTION_UNKNOWN },
    { "bpf", "proc/sys/kernel/unprivileged_bpf_disabled",
      "users of the machine load programs into the kernel",
      "sysctl -w kernel.unprivileged_bpf_disabled=1", is_not_zero, PRODUCTION_GOOD },
    { "user-namespaces", "proc/sys/user/max_user_namespaces",
      "each jar needs a user namespace, and there are few",
      "sysctl -w user.max_user_namespaces=10000", is_large_enough, PRODUCTION_BAD },
    { "cgroup", "sys/fs/cgroup/cgroup.controllers",
      "cgroup v1: limits of memory and CPU are held, but less exactly",
      "systemd.unified_cgroup_hierarchy=1 on the kernel's command line", is_any, PRODUCTION_BAD },
    { "descriptors", "proc/self/limits", "many runs at once need many descriptors",
      "LimitNOFILE=65536 in the unit, or 'ulimit -Hn 65536'", allows_descriptors,
      PRODUCTION_UNKNOWN },
    { "oom-list", "proc/sys/vm/oom_dump_tasks",
      "each program that runs out of memory puts a list of processes into the kernel's log",
      "sysctl -w vm.oom_dump_tasks=0", is_zero, PRODUCTION_UNKNOWN },
};
_Static_assert(ARRAY_LEN(checks) == PRODUCTION_CHECKS, "one finding for each");

static const char *const state_words[] = {
    [PRODUCTION_GOOD] = "good",
    [PRODUCTION_BAD] = "bad",
    [PRODUCTION_UNKNOWN] = "unknown",
};

void production_examine(const char *root, struct production_finding ret[PRODUCTION_CHECKS])
{
    autoclose int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < PRODUCTION_CHECKS; i++) {
        const struct check *c = &checks[i];
        struct production_finding f = {
            .name = c->name, .what = c->what, .command = c->command, .state = c->missing
        };
        char text[JUDGED_SIZE] = "";
        ssize_t n = fd_read_file(fd, c->path, text, sizeof text);
        if (n > 0 && text[n - 1] == '\n' && c->judge != has_no_swap)
            text[n - 1] = '\0';
        if (n >= 0) {
            f.state = c->judge(text);
            (void)snprintf(f.value, sizeof f.value, "%s", text);
        }
        ret[i] = f;
    }
}

bool production_print(const struct production_finding *findings)
{
    bool good = true;
    (void)printf("This machine, for a service in use:\n");
    for (int i = 0; i < PRODUCTION_CHECKS; i++)
        (void)printf("  [%c] %-16s %s\n", " !?"[findings[i].state], findings[i].name,
                     findings[i].value[0] ? findings[i].value : "not there");
    for (int i = 0; i < PRODUCTION_CHECKS; i++) {
        if (findings[i].state != PRODUCTION_BAD)
            continue;
        (void)printf("%s  %s: %s\n      %s\n", good ? "\nTo mend:\n" : "", findings[i].name,
                     findings[i].what, findings[i].command);
        good = false;
    }
    if (good)
        (void)printf("\nNothing is to mend.\n");
    return good;
}

json_t *production_json(const struct production_finding *findings)
{
    json_t *list = json_array();
    for (int i = 0; i < PRODUCTION_CHECKS; i++) {
        const struct production_finding *f = &findings[i];
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s?, s:s?}", "name", f->name, "what", f->what,
                            "state", state_words[f->state], "value", f->value[0] ? f->value : NULL,
                            "command", f->state == PRODUCTION_BAD ? f->command : NULL));
    }
    return list;
}
