package main

import "fmt"

func Map[T, U any](xs []T, f func(T) U) []U {
	out := make([]U, 0, len(xs))
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

func main() {
	words := []string{"a", "bb"}
	lengths := Map(words, func(n int) int { return n })
	fmt.Println(lengths)
}
