throw { code: 1 as number };
