async function rows(): Promise<string[]> {
  return ["a"];
}
for (const row of rows()) console.log(row);
