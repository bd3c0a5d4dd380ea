process.env.TZ = 'America/New_York';
console.log(new Date(0).toString());
