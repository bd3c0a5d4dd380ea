package main

import "fmt"

type shape interface {
	Area() float64
}

type square struct{ side float64 }

func (s square) area() float64 { return s.side * s.side }

func show(s shape) { fmt.Println(s.Area()) }

func main() {
	show(square{2})
}
