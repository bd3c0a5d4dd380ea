/* `belljar doctor`: tries every isolation level, and shows how to get a stronger one. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/place.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands/production.h"
#include "cli/commands/warm_view.h"
#include "config.h"
#include "run/level.h"
#include "run/privileges.h"
#include "run/result.h"
#include "runtime/language.h"
#include "runtime/version.h"

struct level_finding {
    enum level level;
    bool available;
    struct isolation isolation;
    struct err why;
};

struct checkup {
    struct level_finding findings[LEVELS_TO_TRY];
    const struct level_finding *best; /* NULL: no level works here */
    struct utsname kernel;
    uint32_t landlock_abi;
    bool needed[16]; /* for each of remedies[]; decided with the rights of the caller */
};

/* Something that can be missing, its test, and the command that provides it. */
struct remedy {
    bool (*needed)(const struct checkup *c);
    layer_set layers; /* that the command would add */
    const char *what, *command;
};

static bool sysctl_is(const char *path, const char *value)
{
    char text[64];
    ssize_t n = fd_read_file(AT_FDCWD, path, text, sizeof text);
    if (n > 0 && text[n - 1] == '\n')
        text[n - 1] = '\0';
    return n > 0 && strcmp(text, value) == 0;
}

static bool not_root(const struct checkup *c)
{
    return !c->findings[0].available && geteuid() != 0;
}

static bool no_user_namespaces(const struct checkup *c)
{
    (void)c;
    return sysctl_is("/proc/sys/user/max_user_namespaces", "0");
}

static bool userns_for_root_only(const struct checkup *c)
{
    (void)c;
    return sysctl_is("/proc/sys/kernel/unprivileged_userns_clone", "0");
}

static bool userns_by_apparmor(const struct checkup *c)
{
    (void)c;
    return sysctl_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1");
}

static bool not_delegated(const struct checkup *c)
{
    return c->best && geteuid() != 0 && c->best->isolation.cgroup_version == 0;
}

static bool root_without_cgroup(const struct checkup *c)
{
    return geteuid() == 0 && !c->findings[0].available && c->best &&
           c->best->isolation.cgroup_version == 0;
}

static bool no_landlock(const struct checkup *c)
{
    return c->landlock_abi == 0 &&
           (c->best || strstr(c->findings[LEVELS_TO_TRY - 1].why.text, "Landlock"));
}

static bool no_namespaces(const struct checkup *c)
{
    return c->best && !(c->best->isolation.layers & LAYER_BIT(LAYER_USER_NS)) &&
           !no_user_namespaces(c) && !userns_for_root_only(c) && !userns_by_apparmor(c);
}

static bool copied_alone(const struct checkup *c)
{
    (void)c;
    char path[4200];
    struct err absent;
    return place_find(GUEST_DIR, path, sizeof path, &absent) != 0;
}

/* The JSON output names for a missing layer the first row that would add it. */
static const struct remedy remedies[] = {
    { copied_alone, 0, "the files that languages need are not beside this program",
      "ln -sf /PATH/OF/THE/SOURCES/build/belljar /usr/local/bin/belljar" },
    { no_user_namespaces, LAYERS_OF_NAMESPACES, "user namespaces are switched off",
      "sysctl -w user.max_user_namespaces=10000" },
    { userns_for_root_only, LAYERS_OF_NAMESPACES, "user namespaces are for root only",
      "sysctl -w kernel.unprivileged_userns_clone=1" },
    { userns_by_apparmor, LAYERS_OF_NAMESPACES, "AppArmor restricts user namespaces",
      "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" },
    { no_namespaces, LAYERS_OF_NAMESPACES, "namespaces are forbidden here, as in most containers",
      "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add "
      "SYS_ADMIN ..." },
    { not_delegated, LAYERS_OF_CGROUPS,
      "no cgroup is delegated to you, so memory, processes and CPU are not limited as a whole",
      "systemd-run --user --scope -p Delegate=yes belljar run ..." },
    { root_without_cgroup, LAYERS_OF_CGROUPS, "no writable cgroup with memory, pids and cpu",
      "mount -t cgroup2 cgroup2 /sys/fs/cgroup" },
    { no_landlock, LAYER_BIT(LAYER_LANDLOCK), "the kernel does not offer Landlock",
      "add landlock to the lsm= list on the kernel's command line and reboot" },
    { not_root, LAYER_BIT(LAYER_OWN_UID) | LAYERS_OF_CGROUPS, "level jar needs root",
      "sudo belljar run ..." },
};
enum { REMEDIES = ARRAY_LEN(remedies) };
_Static_assert(REMEDIES <= sizeof((struct checkup *)NULL)->needed, "one for each");

/* ---- advice: nothing is missing without it ---- */

static bool core_goes_to_a_socket(const struct checkup *c)
{
    char text[128];
    (void)c;
    return fd_read_file(AT_FDCWD, "/proc/sys/kernel/core_pattern", text, sizeof text) > 0 &&
           text[0] == '@';
}

static bool oom_lists_processes(const struct checkup *c)
{
    (void)c;
    return !sysctl_is("/proc/sys/vm/oom_dump_tasks", "0");
}

static const struct remedy advice[] = {
    { core_goes_to_a_socket, 0,
      "core dumps go to a socket: the process behind it gets the memory of programs that crash in "
      "jars",
      "sysctl -w kernel.core_pattern=core" },
    { oom_lists_processes, 0,
      "each program that runs out of memory puts a list of processes into the kernel's log",
      "sysctl -w vm.oom_dump_tasks=0" },
};

static void print_advice(const struct checkup *c)
{
    bool headed = false;
    for (size_t i = 0; i < ARRAY_LEN(advice); i++) {
        if (!advice[i].needed(c))
            continue;
        (void)printf("%s  %s\n      %s\n", headed ? "" : "\nAdvice for this machine:\n",
                     advice[i].what, advice[i].command);
        headed = true;
    }
}

static json_t *advice_json(const struct checkup *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(advice); i++)
        if (advice[i].needed(c))
            (void)json_array_append_new(list, json_pack("{s:s, s:s}", "what", advice[i].what,
                                                        "command", advice[i].command));
    return list;
}

/* ---- our own processes ---- */

static void print_confinement(void)
{
    struct confinement_layer layers[CONFINEMENT_LAYERS];
    confinement_layers(layers);
    (void)printf("\nConfinement of the keeper, which reads requests and output:\n");
    for (int i = 0; i < CONFINEMENT_LAYERS; i++)
        (void)printf("  [%c] %-14s %s\n", layers[i].available ? 'x' : ' ', layers[i].name,
                     layers[i].what);
}

static json_t *confinement_json(void)
{
    struct confinement_layer layers[CONFINEMENT_LAYERS];
    json_t *list = json_array();
    confinement_layers(layers);
    for (int i = 0; i < CONFINEMENT_LAYERS; i++)
        (void)json_array_append_new(list,
                                    json_pack("{s:s, s:s, s:b}", "name", layers[i].name, "what",
                                              layers[i].what, "available", layers[i].available));
    return list;
}

static void examine(struct checkup *c)
{
    *c = (struct checkup){ 0 };
    (void)uname(&c->kernel);
    for (int i = 0; i < LEVELS_TO_TRY; i++) {
        struct level_finding *f = &c->findings[i];
        f->level = levels_best_first[i];
        f->available = level_try(f->level, &f->isolation, &f->why) == 0;
        if (f->available && !c->best)
            c->best = f;
        if (f->isolation.landlock_abi > c->landlock_abi)
            c->landlock_abi = f->isolation.landlock_abi;
    }
    for (int i = 0; i < REMEDIES; i++)
        c->needed[i] = remedies[i].needed(c);
}

static void print_level(const struct checkup *c, const struct level_finding *f)
{
    (void)printf("  %-9s %s\n", level_name(f->level),
                 !f->available  ? "not available"
                 : f == c->best ? "available, and the default"
                                : "available");
    if (!f->available) {
        (void)printf("            because: %s\n", f->why.text);
        return;
    }
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (f->isolation.unenforced & LIMIT_BIT(i))
            (void)printf("            not enforced for the whole tree: %s (%s)\n",
                         limit_defs[i].key, limit_defs[i].help);
}

static void print_text(const struct checkup *c)
{
    (void)printf("belljar %s on Linux %s\n\nIsolation levels, strongest first:\n", BELLJAR_VERSION,
                 c->kernel.release);
    for (int i = 0; i < LEVELS_TO_TRY; i++)
        print_level(c, &c->findings[i]);
    if (c->best) {
        (void)printf("\nLayers of level %s:\n", level_name(c->best->level));
        for (int i = 0; i < LAYER_COUNT_; i++)
            (void)printf("  [%c] %-14s %s\n", c->best->isolation.layers & LAYER_BIT(i) ? 'x' : ' ',
                         layer_name((enum layer)i), layer_what((enum layer)i));
        (void)printf("  Landlock ABI %u, cgroup %s%.0u\n", c->landlock_abi,
                     c->best->isolation.cgroup_version ? "v" : "none",
                     c->best->isolation.cgroup_version);
    }
    print_confinement();
    (void)printf("\nLanguages:\n");
    char versions[LANGUAGES_MAX][VERSION_SIZE];
    versions_ask(versions);
    for (size_t i = 0; languages[i]; i++)
        (void)printf("  [%c] %-14s %s\n", versions[i][0] ? 'x' : ' ', languages[i]->name,
                     versions[i][0] ? versions[i] : languages[i]->install);
    for (const char *const *problem = language_problems; *problem; problem++)
        (void)printf("  [!] %s\n", *problem);
    json_auto_t *warm = warm_ask();
    warm_print(warm);
    bool headed = false;
    for (int i = 0; i < REMEDIES; i++) {
        if (!c->needed[i])
            continue;
        (void)printf("%s  %s\n      %s\n",
                     headed ? "" : "\nMissing, with the command that helps:\n", remedies[i].what,
                     remedies[i].command);
        headed = true;
    }
    if (!headed)
        (void)printf(c->best
                         ? "\nNothing is missing.\n"
                         : "\nNo level works here, for the reasons above: belljar runs nothing.\n");
    print_advice(c);
}

static json_t *levels_json(const struct checkup *c)
{
    json_t *list = json_array();
    for (int i = 0; i < LEVELS_TO_TRY; i++) {
        const struct level_finding *f = &c->findings[i];
        (void)json_array_append_new(
            list, json_pack("{s:s, s:b, s:s?, s:o, s:o}", "level", level_name(f->level),
                            "available", f->available, "reason", f->available ? NULL : f->why.text,
                            "layers", result_layer_set(f->isolation.layers), "unenforced",
                            result_limit_set(f->isolation.unenforced)));
    }
    return list;
}

static json_t *layers_json(const struct checkup *c)
{
    json_t *list = json_array();
    layer_set have = c->best ? c->best->isolation.layers : 0;
    for (int i = 0; i < LAYER_COUNT_; i++) {
        bool available = have & LAYER_BIT(i);
        const char *fix = NULL;
        for (int k = 0; k < REMEDIES && !available && !fix; k++)
            if ((remedies[k].layers & LAYER_BIT(i)) && c->needed[k])
                fix = remedies[k].command;
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:b, s:s?}", "name", layer_name((enum layer)i), "what",
                            layer_what((enum layer)i), "available", available, "fix", fix));
    }
    return list;
}

static json_t *languages_json(void)
{
    json_t *list = json_array();
    char versions[LANGUAGES_MAX][VERSION_SIZE];
    versions_ask(versions);
    for (size_t i = 0; languages[i]; i++) {
        const char *version = versions[i][0] ? versions[i] : NULL;
        (void)json_array_append_new(
            list, json_pack("{s:s, s:b, s:s?, s:s}", "name", languages[i]->name, "installed",
                            version != NULL, "version", version, "install", languages[i]->install));
    }
    return list;
}

static json_t *problems_json(void)
{
    json_t *list = json_array();
    for (const char *const *problem = language_problems; *problem; problem++)
        (void)json_array_append_new(list, json_string(*problem));
    return list;
}

static json_t *missing_json(const struct checkup *c)
{
    json_t *list = json_array();
    for (int i = 0; i < REMEDIES; i++)
        if (c->needed[i])
            (void)json_array_append_new(list, json_pack("{s:s, s:s}", "what", remedies[i].what,
                                                        "command", remedies[i].command));
    return list;
}

static int print_json(const struct checkup *c)
{
    json_t *o = json_pack(
        "{s:s, s:s, s:s?, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o?}", "version",
        BELLJAR_VERSION, "kernel", c->kernel.release, "level",
        c->best ? level_name(c->best->level) : NULL, "landlock_abi", (int)c->landlock_abi,
        "cgroup_version", c->best ? (int)c->best->isolation.cgroup_version : 0, "levels",
        levels_json(c), "layers", layers_json(c), "confinement", confinement_json(), "missing",
        missing_json(c), "advice", advice_json(c), "languages", languages_json(),
        "language_problems", problems_json(), "warm", warm_ask());
    int rc = o && json_dumpf(o, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF ? 0 : -1;
    json_decref(o);
    return rc;
}

struct doctor_options {
    bool json, production;
    const char *root;
};

static const struct arg_row rows[] = {
    { "json", .offset = offsetof(struct doctor_options, json),
      .help = "print one JSON object instead of text" },
    { "production", .offset = offsetof(struct doctor_options, production),
      .help = "examine the machine for a service in use: swap, SMT, core dumps, limits ..." },
    { "root", "DIR", .offset = offsetof(struct doctor_options, root),
      .values.kind = VALUES_DIRECTORY,
      .help = "with --production: read /proc and /sys below this directory" },
};

static int examine_production(const struct doctor_options *o, struct err *e)
{
    struct production_finding findings[PRODUCTION_CHECKS];
    bool good = true;
    production_examine(o->root ? o->root : "/", findings);
    if (!o->json) {
        good = production_print(findings);
    } else {
        json_auto_t *list = production_json(findings);
        if (json_dumpf(list, stdout, JSON_COMPACT) < 0 || putchar('\n') == EOF)
            return err_set(e, ERR_KERNEL, errno, "write the findings");
        for (int i = 0; i < PRODUCTION_CHECKS; i++)
            good = good && findings[i].state != PRODUCTION_BAD;
    }
    return good ? 0 : err_exit_status(ERR_UNAVAILABLE);
}

static int doctor(void *options, int argc, char **argv, struct err *e)
{
    const struct doctor_options *o = options;
    struct checkup c;
    (void)argc;
    (void)argv;
    if (o->production)
        return examine_production(o, e);
    if (o->root)
        return err_set(e, ERR_USAGE, 0, "--root '%s' is only for --production", QUOTED(o->root));
    examine(&c);
    if (!o->json)
        print_text(&c);
    else if (print_json(&c))
        return err_set(e, ERR_KERNEL, errno, "write the findings");
    return c.best ? 0 : err_exit_status(ERR_UNAVAILABLE);
}

const struct cli_command doctor_command = {
    .name = "doctor",
    .summary = "show the isolation that this machine offers, and how to get more",
    .usage = (const char *const[]){ "[--json]", "--production [--json] [--root DIR]", NULL },
    .description = "Tries every isolation level on this machine. Shows the layers of the strongest "
                   "level that works, the confinement of belljar's own processes, the languages "
                   "that are installed, the state of warm starts if a service runs, and a command "
                   "for everything that is missing. If no level "
                   "works, belljar runs nothing here.\n\n"
                   "With --production, examines the settings of the machine that matter for a "
                   "service in use, and shows the command that mends each of them.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .statuses =
        (const char *const[]){
            "0", "at least one isolation level works; with --production, nothing is to mend",
            NULL },
    .options_size = sizeof(struct doctor_options),
    .run = doctor,
};
