console.log(process.env, Object.keys(process.env).length, process.env.LD_PRELOAD, process.env.NODE_OPTIONS);
