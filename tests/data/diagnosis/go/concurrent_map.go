package main

import "runtime"

func main() {
	runtime.GOMAXPROCS(4)
	m := map[int]int{}
	for g := 0; g < 4; g++ {
		go func() {
			for {
				for i := 0; i < 1000; i++ {
					m[i] = i
				}
			}
		}()
	}
	select {}
}
