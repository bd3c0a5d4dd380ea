/* `belljar languages install`: runs the install commands of languages. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/strv.h"
#include "cli/commands/languages_command.h"
#include "runtime/words.h"

enum { COMMAND_MAX = 512, WORDS_MAX = 128 };

struct install_command {
    const char *argv[COMMAND_MAX + 1];
    size_t n;
};

/* The beginning of an install command that is a list of packages of Debian. */
static const char apt_get[] = "apt-get install ";

/* False: the words did not fit. */
static bool add(struct install_command *c, const char *const *words)
{
    for (; *words && c->n < COMMAND_MAX; words++)
        c->argv[c->n++] = *words;
    return !*words;
}
/* A few words of ours at the beginning of a command. */
#define ADD(c, ...) (void)add((c), (const char *const[]){ __VA_ARGS__, NULL })

static void as_root(struct install_command *c)
{
    if (geteuid() != 0)
        ADD(c, "sudo");
}

/* As in scripts/install-deps: a fresh machine may still be busy with its first upgrades. */
static void begin_apt(struct install_command *c)
{
    as_root(c);
    ADD(c, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o",
        "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0");
}

static int run(const struct install_command *c, bool dry_run, struct err *e)
{
    pid_t pid;
    int status;
    (void)printf("==>");
    for (size_t i = 0; i < c->n; i++)
        (void)printf(strpbrk(c->argv[i], " &|;<>$") ? " '%s'" : " %s", c->argv[i]);
    (void)printf("\n");
    (void)fflush(stdout);
    if (dry_run)
        return 0;
    int failed = posix_spawnp(&pid, c->argv[0], NULL, NULL, (char *const *)c->argv, environ);
    if (failed)
        return err_set(e, ERR_UNAVAILABLE, failed, "start %s", c->argv[0]);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for %s", c->argv[0]);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "%s failed (%s %d); its output is above", c->argv[0],
                       WIFEXITED(status) ? "status" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return 0;
}

static bool is_package(const struct language *l)
{
    return strncmp(l->install, apt_get, strlen(apt_get)) == 0 && !strpbrk(l->install, "&|;<>$`()");
}

/* Debian's PostgreSQL makes a database and starts a server when it is first installed. Jars have
 * servers of their own, so a file forbids that during our installation (as in
 * scripts/install-deps). */
#define CLUSTERS "/etc/postgresql-common/createcluster.d"
static const char no_server[] = "mkdir -p " CLUSTERS
                                " && echo create_main_cluster = false >" CLUSTERS "/belljar.conf";
static const char as_before[] = "rm -f " CLUSTERS "/belljar.conf";

static bool has(const struct install_command *c, const char *word)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->argv[i], word) == 0)
            return true;
    return false;
}

static int run_shell(const char *script, bool dry_run, struct err *e)
{
    struct install_command c = { 0 };
    as_root(&c);
    ADD(&c, "/bin/sh", "-c", script);
    return run(&c, dry_run, e);
}

static int install_quietly(const struct install_command *install, bool dry_run, struct err *e)
{
    struct err ignored;
    if (!has(install, "postgresql"))
        return run(install, dry_run, e);
    if (run_shell(no_server, dry_run, e))
        return -1;
    int rc = run(install, dry_run, e);
    return run_shell(as_before, dry_run, rc ? &ignored : e) || rc ? -1 : 0;
}

static int install_packages(const struct language_facts *f, bool dry_run, struct err *e)
{
    char **lists[LANGUAGES_MAX] = { 0 };
    struct install_command update = { 0 }, install = { 0 };
    size_t n = 0;
    int rc = 0;
    begin_apt(&update);
    begin_apt(&install);
    ADD(&update, "update");
    ADD(&install, "install", "-y", "--no-install-recommends");
    for (size_t i = 0; languages[i] && rc == 0; i++) {
        const char *wrong;
        if (!f->chosen[i] || f->versions[i][0] || !is_package(languages[i]))
            continue;
        rc = words_split(languages[i]->install + strlen(apt_get), WORDS_MAX, &lists[n], &wrong, e);
        if (rc == 0 && !add(&install, (const char *const *)lists[n++]))
            rc = err_set(e, ERR_BAD_REQUEST, 0,
                         "these languages have more than %d packages: install fewer at a time",
                         COMMAND_MAX);
        else if (rc != 0 && wrong)
            rc = err_set(
                e, ERR_BAD_REQUEST, 0,
                "the install command of language '%s' cannot be read: '%s'; run it yourself",
                languages[i]->name, languages[i]->install);
    }
    if (rc == 0 && n > 0)
        rc = run(&update, dry_run, e) || install_quietly(&install, dry_run, e) ? -1 : 0;
    for (size_t i = 0; i < n; i++)
        strv_free(lists[i]);
    return rc;
}

static int install_others(const struct language_facts *f, bool dry_run, struct err *e)
{
    for (size_t i = 0; languages[i]; i++) {
        if (!f->chosen[i] || f->versions[i][0] || is_package(languages[i]))
            continue;
        if (run_shell(languages[i]->install, dry_run, e))
            return err_wrap(e, "install %s", languages[i]->name);
    }
    return 0;
}

static bool is_missing(const struct language_facts *f)
{
    for (size_t i = 0; languages[i]; i++)
        if (f->chosen[i] && !f->versions[i][0])
            return true;
    return false;
}

static bool may_become_root(void)
{
    autoclose int sudo = open("/usr/bin/sudo", O_PATH | O_CLOEXEC);
    return geteuid() == 0 || sudo >= 0;
}

int languages_install(struct language_facts *f, bool dry_run, struct err *e)
{
    bool only_say = dry_run || !may_become_root();
    for (size_t i = 0; languages[i]; i++)
        if (f->chosen[i] && f->versions[i][0])
            (void)printf("%s %s is installed\n", languages[i]->name, f->versions[i]);
    if (install_packages(f, only_say, e) || install_others(f, only_say, e))
        return -1;
    if (dry_run)
        return 0;
    if (only_say && is_missing(f))
        return err_set(e, ERR_DENIED, 0,
                       "this needs root, and there is no sudo: run the commands above as root");
    bool any = false;
    char before[LANGUAGES_MAX][VERSION_SIZE];
    memcpy(before, f->versions, sizeof before);
    versions_ask(f->versions);
    for (size_t i = 0; languages[i]; i++) {
        if (f->chosen[i] && !f->versions[i][0])
            return err_set(e, ERR_UNAVAILABLE, 0,
                           "%s was installed, but '%s' does not print its version",
                           languages[i]->name, languages[i]->version[0]);
        if (!f->chosen[i] || before[i][0])
            continue;
        any = true;
        (void)printf("%s %s is installed now\n", languages[i]->name, f->versions[i]);
    }
    if (any)
        (void)printf("a running service offers it in a few seconds\n");
    return 0;
}
