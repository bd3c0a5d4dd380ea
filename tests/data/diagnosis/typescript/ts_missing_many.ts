interface Options {
  host: string;
  port: number;
  tls?: boolean;
}

function connect(options: Options): string {
  return `${options.host}:${options.port}`;
}

const options = { tls: true };
console.log(connect(options));
