package main

import "errors"

func load(name string) {
	if name == "" {
		panic(errors.New("no name given"))
	}
}

func main() {
	load("")
}
