class LoadError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'LoadError';
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new LoadError('cannot read settings', { cause });
  }
}

parse('{"a": }');
