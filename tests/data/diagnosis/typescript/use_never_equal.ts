type Light = "red" | "green";
function go(light: Light): boolean {
  return light === "yellow";
}
console.log(go("red"));
