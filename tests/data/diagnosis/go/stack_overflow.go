package main

import (
	"fmt"
	"runtime/debug"
)

func fact(n int) int {
	return n * fact(n-1)
}

func main() {
	debug.SetMaxStack(1 << 20)
	fmt.Println(fact(5))
}
