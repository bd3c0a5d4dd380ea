package main

import (
	"fmt"
)

func main() {
	ages := map[string]int{"ann": 31, "bob": 25}
	names := []string{}
	for n := range ages {
		names = append(names, n)
	}
	sort.Strings(names)
	fmt.Println(names)
}
