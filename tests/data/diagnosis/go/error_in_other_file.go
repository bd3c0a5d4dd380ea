package main

import "fmt"

func main() {
	fmt.Println(double(4))
}
