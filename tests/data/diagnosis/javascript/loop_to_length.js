const towns = [{ name: "Ulm" }, { name: "Bonn" }];
for (let i = 0; i <= towns.length; i++) {
  const town = towns[i];
  console.log(town.name);
}
