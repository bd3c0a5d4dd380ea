console.log(process.env.MY_VAR, process.env.EMPTY, process.env.NOPE, 'EMPTY' in process.env, process.env);
