enum Level { Low, High }

function label(level: Level): string {
  switch (level) {
    case Level.Low: return 'low';
    case Level.High: return 'high'
  
}

console.log(label(Level.High));
