/* The tools that check each language. A script leaves out nothing: each file gets an entry. */
#include <string.h>

#include "base/array.h"
#include "checks/checks.h"

/* A tool for a single file. Its last argument is the file. */
#define EACH_FILE(language, step_and_tool, command)                   \
    "check_" language "() {\n"                                        \
    "    local file\n"                                                \
    "    for file in \"${files[@]}\"; do\n"                           \
    "        try " step_and_tool " \"$file\" " command " \"$file\"\n" \
    "    done\n"                                                      \
    "}\n"
/* A program of ours for all files, which prints the entries itself. */
#define OUR_PROGRAM(language, interpreter, program)                                          \
    "check_" language "() {\n"                                                               \
    "    has " interpreter " || { tell syntax " language " not_installed '' ''; return; }\n" \
    "    " interpreter " \"$guest\"/" program " \"${files[@]}\" ||\n"                        \
    "        tell syntax " language " $? '' ''\n"                                            \
    "}\n"

static const struct checker checkers[] = {
    { .language = "python",
      /* The program of ours imports nothing of the project. */
      .script =
          "check_python() {\n"
          "    has /usr/bin/python3 || { tell syntax python3 not_installed '' ''; return; }\n"
          "    local status\n"
          "    /usr/bin/python3 -I \"$guest\"/python/check.py \"${files[@]}\"\n"
          "    status=$?\n"
          "    ((status < 2)) || tell syntax python3 $status '' ''\n"
          "    has mypy || { tell types mypy not_installed '' ''; return; }\n"
          "    ((status == 0)) || { tell types mypy skipped '' ''; return; }\n"
          /* No configuration: a plugin would be code of the project. */
          "    try types mypy '' mypy --config-file= \"--cache-dir=$tmp/mypy\" --no-color-output "
          "\\\n"
          "        --no-error-summary --show-column-numbers --show-error-codes \\\n"
          "        --ignore-missing-imports --namespace-packages --explicit-package-bases \\\n"
          "        \"${files[@]}\"\n"
          "}\n",
      .types = "mypy",
      .types_install = "apt-get install mypy" },
    { .language = "javascript",
      .script =
          "check_javascript() {\n"
          "    has /usr/bin/node || { tell syntax node not_installed '' ''; return; }\n"
          "    local file good=()\n"
          "    for file in \"${files[@]}\"; do\n"
          "        try syntax node \"$file\" /usr/bin/node --check \"$file\" && good+=(\"$file\")\n"
          "    done\n"
          "    ((${#good[@]})) || { tell imports node skipped '' ''; return; }\n"
          "    /usr/bin/node \"$guest\"/node/check.js \"${good[@]}\" ||\n"
          "        tell imports node $? '' ''\n"
          "}\n" },
    { .language = "typescript",
      .script = "check_typescript() {\n"
                "    local place\n"
                "    for place in /usr/local/lib/node_modules /usr/lib/node_modules "
                "/usr/share/nodejs; do\n"
                "        [ -e $place/typescript ] || continue\n"
                "        try compile tsc '' /usr/bin/node \"$guest\"/typescript/check.js "
                "\"${files[@]}\"\n"
                "        return\n"
                "    done\n"
                "    tell compile tsc not_installed '' ''\n"
                "}\n" },
    { .language = "bash", .script = EACH_FILE("bash", "syntax bash", "/bin/bash -n") },
    { .language = "zsh", .script = EACH_FILE("zsh", "syntax zsh", "/usr/bin/zsh -n") },
    { .language = "ruby", .script = OUR_PROGRAM("ruby", "/usr/bin/ruby", "ruby/check.rb") },
    { .language = "c",
      .script = EACH_FILE("c", "compile gcc",
                          "/usr/bin/gcc -std=gnu17 -fsyntax-only -w -fdiagnostics-color=never") },
    { .language = "cpp",
      .script = EACH_FILE("cpp", "compile g++",
                          "/usr/bin/g++ -std=gnu++17 -fsyntax-only -w -fdiagnostics-color=never") },
    /* gofmt alone parses every file. The compiler stops at the first package with an error. */
    { .language = "go",
      .script = "check_go() {\n"
                "    local file dir good=1 status=0 text seen=' '\n"
                "    for file in \"${files[@]}\"; do\n"
                "        try syntax gofmt \"$file\" /usr/bin/gofmt -l -e \"$file\" || good=0\n"
                "    done\n"
                "    has /usr/bin/go || { tell compile go not_installed '' ''; return; }\n"
                "    ((good)) || { tell compile go skipped '' ''; return; }\n"
                "    export GOPROXY=off GOSUMDB=off GOFLAGS=-mod=mod GOTOOLCHAIN=local GOENV=off\n"
                "    export GOTELEMETRY=off\n"
                "    for file in \"${files[@]}\"; do\n"
                "        dir=$(dirname \"$file\")\n"
                "        [[ $seen == *\" $dir \"* || $file == *_test.go ]] && continue\n"
                "        seen+=\"$dir \"\n"
                "        rm -rf \"$tmp/go-build\"\n"
                "        try compile go '' /bin/sh \"$guest\"/go/build \"$guest\"/go/seed \\\n"
                "            \"$file\" .belljar-program\n"
                "    done\n"
                "}\n" },
    /* A file of a crate is no program of its own: the root names the others. */
    { .language = "rust",
      .script =
          "check_rust() {\n"
          "    local file root=${files[0]}\n"
          "    for file in \"${files[@]}\"; do\n"
          "        [[ $file == main.rs || $file == */main.rs ]] && root=$file && break\n"
          "    done\n"
          "    try compile rustc '' /usr/bin/rustc --edition=2021 --color=never -Awarnings \\\n"
          "        --crate-name=main --emit=metadata -o \"$tmp/main.rmeta\" \"$root\"\n"
          "}\n" },
    /* An annotation processor would be code of the project. */
    { .language = "java",
      .script = "check_java() {\n"
                "    mkdir -p \"$tmp/classes\"\n"
                "    try compile javac '' /usr/bin/javac -J-XX:+UseSerialGC "
                "-J-XX:TieredStopAtLevel=1 \\\n"
                "        -J-XX:-UsePerfData -J-Xmx256m -proc:none -nowarn -encoding UTF-8 \\\n"
                "        -d \"$tmp/classes\" \"${files[@]}\"\n"
                "}\n" },
    { .language = "php",
      .script =
          "check_php() {\n"
          "    local file good=()\n"
          "    for file in \"${files[@]}\"; do\n"
          "        try syntax php \"$file\" /usr/bin/php -d display_errors=0 -d log_errors=1 \\\n"
          "            -d error_log= -l \"$file\" && good+=(\"$file\")\n"
          "    done\n"
          "    ((${#good[@]})) || { tell imports php skipped '' ''; return; }\n"
          "    /usr/bin/php \"$guest\"/php/check.php \"${good[@]}\" || tell imports php $? '' "
          "''\n"
          "}\n" },
    /* -c executes BEGIN blocks and `use`: Perl cannot be parsed without them. */
    { .language = "perl",
      .script = EACH_FILE("perl", "compile perl", "/usr/bin/perl -c"),
      .untyped = true },
    { .language = "lua", .script = OUR_PROGRAM("lua", "/usr/bin/lua", "lua/check.lua") },
    { .language = "r",
      .script = EACH_FILE("r", "syntax Rscript",
                          "/usr/bin/Rscript --vanilla -e 'invisible(parse(commandArgs(TRUE)))'") },
};

const struct checker *checker_of(const char *language)
{
    for (size_t i = 0; i < ARRAY_LEN(checkers); i++)
        if (strcmp(checkers[i].language, language) == 0)
            return &checkers[i];
    return NULL;
}
