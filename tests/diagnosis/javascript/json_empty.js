console.log(JSON.parse(""));
