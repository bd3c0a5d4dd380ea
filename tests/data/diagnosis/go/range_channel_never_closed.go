package main

import "fmt"

func produce(n int) <-chan int {
	out := make(chan int)
	go func() {
		for i := 0; i < n; i++ {
			out <- i * i
		}
	}()
	return out
}

func main() {
	sum := 0
	for v := range produce(5) {
		sum += v
	}
	fmt.Println(sum)
}
