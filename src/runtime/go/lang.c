/* runtime/go/lang.c — the declaration of go; see runtime/language.h. Pure data. */
#include "runtime/language.h"

/* guest/build decides whether the program is a module or single files, and finds the build
 * cache. */
DECLARE_LANGUAGE(go) = {
    NAMED("go", "main.go", WORDS(".go"), WORDS("golang")),
    .command = WORDS("./{program}"),
    .no_sockets = NO_SOCKETS_IN_COMPILER,
    .compile = WORDS("/bin/sh", "{guest}/go/build", "{guest}/go/seed", FILE_ARGUMENT, "{program}",
                     "{args}"),
    .compile_env = WORDS("GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local",
                         "GOTELEMETRY=off", "GOENV=off"),
    .products = WORDS("program"),
    .env = NO_WORDS,
    .version = WORDS("/usr/bin/go", "version"),
    .install = "apt-get install golang-go",
    .seeded = true,
    .hints = WORDS("!^package main", "^package ", "!^func ", "!^func (", "!^import (",
                   "!^import \"", "!fmt.", "!^defer ", "!go func", "!make(chan", "!make([]",
                   "!make(map", "!struct {", "!struct{", "!interface {", "!interface{",
                   "!err != nil", "!chan ", "!chan<-", "!<-c", "!<-d", "!map[string]", "!map[int]",
                   "!map[rune]", "!:= range ", "!, err := ", "!, ok := ", "!, err = ", "! := ",
                   ", nil", "return nil", "!= append(", "^var ", "^const ", "^type ", "!errors.New",
                   "!errors.Is", "!strings.", "!strconv.", "sync.", "!os.Args", "!os.ReadFile",
                   "!os.Stdin", "!bufio.", "sort.", "!log.Fatal", "!log.Print", "!time.Now",
                   "!time.Second", "context.", "http.", "![]int", "![]string", "![]byte",
                   "![]float64", "![]rune", "!float64", "!int64", "! error)", "! error {",
                   "string {", "!int {", "bool {", "!&sync", "!^select {", "!^case <-",
                   "!^switch {", "!^for {", " any]", " any)", "|//", "-~;", "-~):", "-function",
                   "-^def ", "-: number", "-: string", "-=> ", "-println!", "-^let ", "-^fn ",
                   "-const auto", "-->", "-#include", "-(self", "-elif", "-::", "-^public ",
                   "!:= func(", "!, func(", "-^$", "!sync.WaitGroup", "!sync.Mutex"),
};
