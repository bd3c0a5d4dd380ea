const reply = { code: 200 };
const { body: { rows } } = reply;
