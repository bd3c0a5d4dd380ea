package main

func main() {
	var n int = "42"
	_ = n
}
