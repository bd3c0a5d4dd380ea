/* runtime/typescript/lang.c — the declaration of typescript; see runtime/language.h. Pure data. */
#include "runtime/language.h"

#define REGISTER "{guest}/typescript/register.js"

static const struct warm warm[] = {
    /* Node as in node/lang.c, with the TypeScript compiler loaded and warmed up. */
    { .zygote = { .name = "typescript",
                  .files = WORDS("belljar-node.so"),
                  .argv = WORDS("/usr/bin/node", "-r", "/opt/belljar/typescript/register.js",
                                "main.ts"),
                  .env = NO_WORDS },
      .large = true },
    { .zygote = { .name = "typescript-session",
                  .files = WORDS("belljar-node.so"),
                  .argv = WORDS("/usr/bin/node", "-r", "/opt/belljar/typescript/session.js",
                                "main.js"),
                  .env = NO_WORDS },
      .large = true,
      .session = true },
    { .zygote = { .name = "typescript-image",
                  .files = WORDS("belljar-image.so"),
                  .argv = WORDS("/usr/bin/node", "-r", "/opt/belljar/typescript/session.js",
                                "main.js"),
                  .env = NO_WORDS },
      .session = true,
      .image = true },
    { .imports = NULL },
};

DECLARE_LANGUAGE(typescript) = {
    NAMED("typescript", "main.ts", WORDS(".ts", ".mts", ".cts", ".tsx"), WORDS("ts")),
    .command = WORDS("/usr/bin/node", "-r", REGISTER, FILE_ARGUMENT),
    .no_sockets = NO_SOCKETS_IN_COMPILER,
    .check = WORDS("/usr/bin/node", "{guest}/typescript/check.js", FILE_ARGUMENT),
    .session = WORDS("/usr/bin/node", "-r", "{guest}/typescript/session.js",
                     "{guest}/node/session_begin.js"),
    .cell_name = "cell-#",
    .forks = true,
    .whereabouts = true,
    .values_command = WORDS("/usr/bin/node", "-r", REGISTER, "-r", "{guest}/node/values.js",
                            FILE_ARGUMENT),
    .profile = WORDS("/usr/bin/node", "-r", REGISTER, "-r", "{guest}/node/profile.js",
                     FILE_ARGUMENT),
    .env = NO_WORDS,
    /* The search order of compiler.js: the first usable compiler wins. Versions from 7 on are not
     * usable. */
    .version = WORDS("/bin/sed", "-n", "s/.*\"version\": *\"\\([1-6][.][0-9.]*\\).*/\\1/p",
                     "/usr/local/lib/node_modules/typescript/package.json",
                     "/usr/lib/node_modules/typescript/package.json",
                     "/usr/share/nodejs/typescript/package.json"),
    .install = "apt-get install nodejs node-typescript",
    .warm = warm,
    .cold_env = WORDS("NODE_*", "UV_*", "HOME", "TZ", "LANG", "LANGUAGE", "LC_*", "OPENSSL_*",
                      "SSL_CERT_*", "ICU_*", "LD_*", "MALLOC_*", "GLIBC_TUNABLES", "TSC_*"),
    .hints = WORDS(
        "<javascript", "!^interface ", "!^export interface ", "!^type ", "!^export type ",
        "!^import type ", "!^enum ", "!^const enum ", "!^export enum ", "!^abstract class ",
        "!^declare const ", "!^declare function ", "!^declare module ", "!: string", "!: number",
        "!: boolean", "!: void", "!: any", "!: unknown", "!: never", "!: object", "!: Date",
        "!: Array<", "!: Map<", "!: Set<", "!: Record<", "!: Promise<", "!: Partial<", "!Map<",
        "!Set<", "!Array<", "!Record<", "!Partial<", "!Readonly<", "!Pick<", "!Omit<", "!Promise<",
        "!number[]", "!string[]", "!boolean[]", "!any[]", "!T[]", "<T>", "!<T,", "!<T ", "!<K",
        "!<string", "!<number", "!<U>", "!keyof ", "! extends keyof", "! satisfies ", "! as const",
        "! as string", "! as number", "! as any", "! as unknown", "!?: ", "!constructor(private ",
        "!constructor(public ", "!constructor(protected ", "!constructor(readonly ", "private ",
        "public ", "protected ", "readonly ", " implements ", "-^public class ", "-System.",
        "-String ", "-^import java", "-std::", "-: i32", "-struct ", "-^fn ", "-Map<String",
        "-<Integer", "-^package ", "-^public static", "-ArrayList", "-^public interface", "-func ",
        "-vector<", "-HashMap<", "-.println(", "-@Override", "-^public enum", "-^public record",
        "-^use ", "-&self", "-impl ", "-^$", "-(string $", "-HashSet<", "- interface {", "!<T>(",
        "!: T"),
};
