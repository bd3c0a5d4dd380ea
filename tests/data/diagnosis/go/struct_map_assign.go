package main

import "fmt"

type Counter struct{ Hits int }

func main() {
	pages := map[string]Counter{"home": {1}}
	pages["home"].Hits++
	fmt.Println(pages)
}
