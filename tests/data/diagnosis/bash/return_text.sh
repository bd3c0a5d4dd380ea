foo() {
  return "abc"
}
foo
