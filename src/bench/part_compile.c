/* bench/part_compile.c — compiled languages: a new program and the same program again, compared
 * with compiling and running it bare. Every round has a new program, for every contender. Go's own
 * build cache is warm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "bench/bench.h"
#include "bench/die.h"
#include "bench/load.h"

extern const struct language language_cpp, language_go, language_rust;

static const struct compiled {
    const char *title;
    const struct language *language;
    /* the number of the round is put between `before` and `after` */
    const char *file, *before, *after;
    const char *bare;                   /* a shell command, in its own directory */
    const char *over_bare, *over_again; /* keys of budgets; NULL: none */
} rows[] = {
    { "Go, fmt.Println", &language_go, "main.go",
      "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"round\", ", ") }\n",
      "/usr/bin/go build -o program main.go", "go_over_bare", "go_first_over_again" },
    { "C++, iostream", &language_cpp, "main.cpp",
      "#include <iostream>\nint main() { std::cout << \"round \" << ", " << std::endl; }\n",
      "/usr/bin/g++ -std=gnu++17 -O2 -o program main.cpp", NULL, "cpp_first_over_again" },
    { "Rust, println!", &language_rust, "main.rs", "fn main() { println!(\"round {}\", ", "); }\n",
      "/usr/bin/rustc --edition 2021 -O -o program main.rs", NULL, "rust_first_over_again" },
};

struct compile_race {
    char dir[400];
    char code[300], says[40];
    struct bench_program program;
    struct way_command bare;
    struct series ms_bare, ms_first, ms_again;
};

static void next_program(struct compile_race *r, const struct compiled *c, size_t round)
{
    char path[500];
    (void)snprintf(r->code, sizeof r->code, "%s%zu%s", c->before, round, c->after);
    (void)snprintf(r->says, sizeof r->says, "round %zu\n", round);
    r->program = (struct bench_program){ .name = c->language->name,
                                         .language = c->language,
                                         .file = c->file,
                                         .code = r->code,
                                         .code_len = strlen(r->code),
                                         .says = r->says };
    (void)snprintf(path, sizeof path, "%s/%s", r->dir, c->file);
    FILE *f = fopen(path, "w");
    if (!f || fputs(r->code, f) == EOF || fclose(f) == EOF)
        bench_die(path, NULL);
}

/* All its files are below our directory. */
static void word_bare(struct compile_race *r, const struct compiled *c)
{
    struct way_command *b = &r->bare;
    size_t n = sizeof b->storage / 4;
    char *at = b->storage;
    *b = (struct way_command){ .says = r->says };
    (void)snprintf(at, n, "cd %s && rm -f program && %s && exec ./program", r->dir, c->bare);
    (void)snprintf(at + n, n, "GOCACHE=%s/cache", r->dir);
    (void)snprintf(at + 2 * n, n, "GOPATH=%s/path", r->dir);
    const char *const argv[] = { "/bin/sh", "-c", at, NULL };
    const char *const env[] = { "PATH=/usr/bin:/bin", at + n, at + 2 * n, "GO111MODULE=off", NULL };
    memcpy(b->argv, argv, sizeof argv);
    memcpy(b->env, env, sizeof env);
}

static void round_of(struct compile_race *r, const struct compiled *c, struct load_client *v,
                     size_t round)
{
    next_program(r, c, round);
    bool ours_first = random() % 2; /* the second one finds the compiler in memory */
    double first = ours_first ? load_client_run(v, &r->program, NULL) : 0;
    double bare = command_once(&r->bare);
    if (!ours_first)
        first = load_client_run(v, &r->program, NULL);
    double again = load_client_run(v, &r->program, NULL);
    if (round == 0)
        return; /* the first round warms caches, for every contender */
    series_add(&r->ms_bare, bare);
    series_add(&r->ms_first, first);
    series_add(&r->ms_again, again);
}

static void tell(struct bench *b, const struct compiled *c, struct compile_race *r)
{
    report_section(b->report, c->title);
    report_series(b->report, "compiled and run bare", &r->ms_bare, NULL);
    report_series(b->report, "belljar, HTTP, never seen before", &r->ms_first, &r->ms_bare);
    report_series(b->report, "belljar, HTTP, the same again", &r->ms_again, &r->ms_bare);
    if (c->over_bare)
        report_metric(b->report, c->over_bare, series_ratio(&r->ms_first, &r->ms_bare).all);
    report_metric(b->report, c->over_again, series_ratio(&r->ms_first, &r->ms_again).all);
    series_done(&r->ms_bare);
    series_done(&r->ms_first);
    series_done(&r->ms_again);
}

void part_compile(struct bench *b)
{
    struct load_client *v = load_client_new(bench_service(b, SERVICE_WARM)->port);
    struct compile_race *r = calloc(1, sizeof *r);
    for (size_t i = 0; r && i < ARRAY_LEN(rows); i++) {
        char why[200], text[400];
        *r = (struct compile_race){ 0 };
        (void)snprintf(r->dir, sizeof r->dir, "%s/compile-%s", b->site.dir, rows[i].language->name);
        if (mkdir(r->dir, 0755) < 0)
            bench_die(r->dir, NULL);
        next_program(r, &rows[i], 0);
        word_bare(r, &rows[i]);
        if (!command_try(&r->bare, why, sizeof why)) {
            (void)snprintf(text, sizeof text, "%s: %s", rows[i].title, why);
            report_skip(b->report, text);
            continue;
        }
        for (size_t round = 0; round <= b->plan.compiles; round++)
            round_of(r, &rows[i], v, round);
        tell(b, &rows[i], r);
    }
    free(r);
    load_client_free(v);
}
