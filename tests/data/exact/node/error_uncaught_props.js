throw Object.assign(new Error('with props'), { code: 'ECODE', details: { a: 1 } });
