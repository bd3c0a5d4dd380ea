/* runtime/c/lang.c — the declaration of c; see runtime/language.h. Pure data. */
#include "runtime/language.h"

/* -g1 writes line numbers and no variables: enough for sanitizers and stack traces, and cheap to
 * make. */
DECLARE_LANGUAGE(c) = {
    NAMED("c", "main.c", WORDS(".c"), WORDS("c17", "gcc")),
    .command = WORDS("./{program}"),
    /* Libraries follow the sources that use them. The caller's arguments come last, where they
     * win. */
    .no_sockets = NO_SOCKETS_IN_COMPILER,
    .compile = WORDS("/usr/bin/gcc", "-std=gnu17", "-O2", "-g1", "-Wall",
                     "-fdiagnostics-color=never", "-o", "{program}", "{sources}", "-lm",
                     "-pthread"),
    .products = WORDS("program"),
    /* For programs built with -fsanitize=address. A jar allows neither the system call that
     * disables core files nor the one that leak detection needs, and the sanitizer aborts when
     * either fails. */
    .env = WORDS("ASAN_OPTIONS=disable_coredump=0:detect_leaks=0"),
    .version = WORDS("/usr/bin/gcc", "-dumpfullversion"),
    .install = "apt-get install gcc libc6-dev",
    .hints = WORDS("!^#include <stdio.h>", "!^#include <stdlib.h>", "!^#include <string.h>",
                   "!^#include <unistd.h>", "!~.h>", "!~.h\"", "^#include ", "^#include <",
                   "!^#define ", "!^#ifdef ", "!^#ifndef ", "!^#pragma ", "!^#endif", "!^#if ",
                   "!^int main(", "!^int main (", "printf(", "!^printf(\"", "!fprintf(",
                   "!sprintf(", "!snprintf(", "!scanf(", "!^typedef ", "!^typedef struct",
                   "!^typedef enum", "!malloc(", "!calloc(", "!realloc(", "!strlen(", "!strcpy(",
                   "!strcmp(", "!strcat(", "!memset(", "!memcpy(", "!strtol(", "!fgets(",
                   "!getchar(", "!fopen(", "!^struct ", "!^union ", "^enum ", "!sizeof", "NULL",
                   "!^static int ", "!^static void ", "^static ", "!^extern ", "!^void *", "^void ",
                   "!char *", "!char **", "!int *", "!double *", "!float *", "!(void)", "!(void *)",
                   "!^return 0;", "puts(", "putchar(", "!free(", "^int ", "^double ", "^float ",
                   "^char ", "^long ", "!^size_t ", "!size_t ", "!const char", "!^unsigned ",
                   "!unsigned ", "!uint8_t", "!uint32_t", "!uint64_t", "!int32_t", "!int64_t",
                   "!sizeof *", "!sizeof(", "!pthread_", "!int arr[", "!int a[", "!char s[",
                   "!char buf", ", int ", "(int ", "!struct ", "|//", "-System.", "-String ",
                   "-^public ", "-^private ", "-^protected ", "-^import ", "-=> ", "-^func ",
                   "-^fn ", "-^def ", "-console.", "-^package ", "-: number", "-boolean", "-impl ",
                   "-pub ", "-^type ", "-println", "-^final ", "-throws ", "-int[]", "-.length",
                   "-extends", "-Math.", "-^use ", "-: f64", "-: i32", "-^trait ", "-&self", "-u32",
                   "-^record ", "-^$", "-^let ", "-= new ", "-^class ", "-^@", "-^echo ", "!p->",
                   "!n->", "!->next", "!->data", "!->value", "!(\"%d", "!, &"),
};
