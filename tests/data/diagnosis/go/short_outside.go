package main

import "fmt"

limit := 3

func main() {
	for i := 0; i < limit; i++ {
		fmt.Println(i)
	}
}
