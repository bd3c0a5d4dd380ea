function area({ width, height }) {
  return width * height;
}

console.log(area());
