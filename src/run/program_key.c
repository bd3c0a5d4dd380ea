#include "run/program_key.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/place.h"
#include "base/strv.h"
#include "run/command_line.h"

enum { HASH_BYTES = (PROGRAM_KEY_SIZE - 1) / 2 };

typedef crypto_generichash_state hash;

/* The length goes first, so that two different lists of fields never give the same bytes. */
static void add(hash *h, const void *bytes, uint64_t n)
{
    (void)crypto_generichash_update(h, (const unsigned char *)&n, sizeof n);
    if (n > 0)
        (void)crypto_generichash_update(h, bytes, n);
}

static void add_text(hash *h, const char *text)
{
    add(h, text ? text : "", text ? strlen(text) : 0);
}

static void add_list(hash *h, char *const *list)
{
    uint64_t n = strv_len(list);
    (void)crypto_generichash_update(h, (const unsigned char *)&n, sizeof n);
    for (uint64_t i = 0; i < n; i++)
        add_text(h, list[i]);
}

/* Identifies a file, and detects that it was replaced. */
static void add_file(hash *h, const char *path)
{
    struct stat st = { 0 };
    bool there = stat(path, &st) == 0;
    const uint64_t facts[] = { there, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                               (uint64_t)st.st_mtim.tv_nsec };
    add_text(h, path);
    add(h, facts, sizeof facts);
}

/* The compiler, our own scripts around it, and the installed packages, which bring headers and
 * libraries. */
static void add_toolchain(hash *h, const struct jar_request *stage)
{
    static const char *const packages[] = { "/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite",
                                            "/lib/apk/db/installed" };
    static const char guest[] = "{guest}/";
    char dir[4200] = "", path[4400];
    struct err e;
    for (const char *const *word = stage->command; *word; word++) {
        if ((*word)[0] == '/')
            add_file(h, *word);
        if (strncmp(*word, guest, sizeof guest - 1) != 0)
            continue;
        if (!dir[0] && place_find(GUEST_DIR, dir, sizeof dir, &e))
            dir[0] = '\0';
        (void)snprintf(path, sizeof path, "%s/%s", dir, *word + sizeof guest - 1);
        add_file(h, path);
    }
    for (const char *const *word = stage->language->version; *word; word++)
        if ((*word)[0] == '/')
            add_file(h, *word);
    for (size_t i = 0; i < ARRAY_LEN(packages); i++)
        add_file(h, packages[i]);
}

int program_key(char ret[PROGRAM_KEY_SIZE], const struct jar_request *stage, enum level level,
                const struct buf *files, struct err *e)
{
    unsigned char digest[HASH_BYTES];
    hash h;
    scoped(command_line) job = { 0 };
    if (command_line_build(&job, stage, level, e))
        return -1;
    if (sodium_init() < 0 || crypto_generichash_init(&h, NULL, 0, sizeof digest) != 0)
        return err_set(e, ERR_KERNEL, 0, "libsodium cannot hash a program");
    add_text(&h, "belljar program 1");
    add_text(&h, stage->language->name);
    add_text(&h, level_name(level));
    add_text(&h, stage->main_name);
    add_list(&h, job.argv);
    add_list(&h, job.envp);
    add_list(&h, stage->outputs);
    add_toolchain(&h, stage);
    add(&h, files->data, files->len);
    (void)crypto_generichash_final(&h, digest, sizeof digest);
    (void)sodium_bin2hex(ret, PROGRAM_KEY_SIZE, digest, sizeof digest);
    return 0;
}
