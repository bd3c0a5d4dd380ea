function buildPath(parts) {
  let path = [];
  for (const part of parts) {
    path = path.push(part.trim());
  }
  return path.join('/');
}

console.log(buildPath(['usr', ' local ', 'bin']));
