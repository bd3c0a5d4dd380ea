const day = "2024-05-01";
console.log(day.getMonth());
