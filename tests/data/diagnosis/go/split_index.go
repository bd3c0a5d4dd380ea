package main

import (
	"fmt"
	"strings"
)

func main() {
	parts := strings.Split("a=1;b", ";")
	for _, p := range parts {
		kv := strings.Split(p, "=")
		fmt.Println(kv[0], kv[1])
	}
}
