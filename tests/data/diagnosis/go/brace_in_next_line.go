package main

func main() {
	n := 0
	for i := 0; i < 3; i++
	{
		n += i
	}
	println(n)
}
