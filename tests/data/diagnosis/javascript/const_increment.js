function next() {
  const count = 0;
  count++;
  return count;
}

next();
