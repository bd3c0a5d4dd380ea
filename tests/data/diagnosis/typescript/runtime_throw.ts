enum Level { Low = 1, High = 2 }

function raise(level: Level): void {
  const name: string = Level[level];
  if (level === Level.High) {
    throw new Error(`level is ${name}`);
  }
}

raise(Level.High);
