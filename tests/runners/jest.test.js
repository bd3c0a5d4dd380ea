const { first } = require('./calc');
describe('calc', () => {
  test('good', () => { expect(1 + 2).toBe(3); });
  test('bad', () => { first([]); });
});
