package main

import (
	"fmt"
	"os"
)

func main() {
	f, err := os.Open("missing.txt")
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Name())
}
