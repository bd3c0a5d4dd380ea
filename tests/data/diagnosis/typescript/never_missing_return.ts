type Level = "low" | "mid" | "high";
function color(l: Level): string {
  switch (l) {
    case "low": return "green";
    case "mid": return "yellow";
  }
}
console.log(color("low"));
