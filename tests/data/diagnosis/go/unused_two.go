package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	x := 3
	fmt.Println("a")
}
