package main

func main() {
	names := []string{"a"}
	append(names, "b")
	println(len(names))
}
