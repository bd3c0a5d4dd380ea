#include "runtime/language.h"

/* The script finds out what kind of a program it is, and where the build cache is; see there. */
extern const struct language language_go;
const struct language language_go = {
    .name = "go",
    .aliases = (const char *const[]){ "golang", NULL },
    .extensions = (const char *const[]){ ".go", NULL },
    .main_file = "main.go",
    .command = (const char *const[]){ "./{program}", NULL },
    .compile = (const char *const[]){ "/bin/sh", "{guest}/go/build", "{guest}/go/seed",
                                      FILE_ARGUMENT, "{program}", "{args}", NULL },
    .compile_env = (const char *const[]){ "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-mod=mod",
                                          "GOTOOLCHAIN=local", "GOTELEMETRY=off", "GOENV=off",
                                          NULL },
    .products = (const char *const[]){ "program", NULL },
    .env = (const char *const[]){ NULL },
    .version = (const char *const[]){ "/usr/bin/go", "version", NULL },
    .install = "apt-get install golang-go",
    .seeded = true,
    .hints =
        (const char *const[]){
            "!^package main", "!^func ",  "^import (",    "!^import \"", "!fmt.",
            "!^defer ",       "!go func", "!make(chan",   "!struct {",   "!interface {",
            "!err != nil",    "!chan ",   "!map[string]", "!:= range ",  "^var ",
            "^package ",      "!os.Args", "!chan<-",      " := ",        "!, err := ",
            "!, nil",         "!struct{", "!float64",     "!^func (",    NULL },
};
