set -e
greet Ada

greet() {
  echo "Hello $1"
}
