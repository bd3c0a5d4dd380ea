package main

import "fmt"

func main() {
	var ages map[string]int
	fmt.Println(len(ages))
	ages["ann"] = 3
}
