console.log(process.env.GREETING as string, Object.keys(process.env).sort());
