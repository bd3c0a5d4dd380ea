const day = new Date("31/12/2024");
console.log(day.toISOString());
