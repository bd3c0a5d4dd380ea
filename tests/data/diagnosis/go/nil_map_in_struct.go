package main

import "fmt"

type Cache struct {
	hits  int
	store map[string]int
}

func NewCache() *Cache {
	return &Cache{}
}

func (c *Cache) Put(key string, v int) {
	c.store[key] = v
}

func main() {
	c := NewCache()
	c.Put("a", 1)
	fmt.Println(c.hits, len(c.store))
}
