package main

import (
	"fmt"
	"sync"
)

type Counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *Counter) Inc(k string) {
	c.mu.Lock()
	c.n[k]++
	c.mu.Unlock()
	c.mu.Unlock()
}

func main() {
	c := Counter{n: map[string]int{}}
	c.Inc("a")
	fmt.Println(c.n)
}
