package main

import "fmt"

func f() int { return 1 }

func f() int { return 2 }

func main() {
	fmt.Println(f())
}
