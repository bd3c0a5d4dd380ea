package main

import "fmt"

func main() {
	fmt.Println(helper(2))
}
