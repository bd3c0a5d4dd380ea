class HttpError extends Error {
  constructor(public status: number, message: string) {
    super(message);
    this.name = 'HttpError';
  }
}

async function request(path: string): Promise<string> {
  if (path.startsWith('/admin')) {
    throw new HttpError(403, `forbidden: ${path}`);
  }
  return 'ok';
}

async function main(): Promise<void> {
  console.log(await request('/'));
  console.log(await request('/admin'));
}

main();
