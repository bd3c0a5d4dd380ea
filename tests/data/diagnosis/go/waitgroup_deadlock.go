package main

import (
	"fmt"
	"sync"
)

func worker(id int, results chan<- int, wg *sync.WaitGroup) {
	results <- id * 2
	wg.Done()
}

func main() {
	var wg sync.WaitGroup
	results := make(chan int)
	for i := 0; i < 3; i++ {
		wg.Add(1)
		go worker(i, results, &wg)
	}
	wg.Wait()
	close(results)
	for r := range results {
		fmt.Println(r)
	}
}
