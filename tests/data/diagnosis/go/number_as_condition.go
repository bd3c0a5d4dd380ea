package main

func main() {
	count := 3
	if count {
		println("some")
	}
}
