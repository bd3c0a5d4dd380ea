// The few declarations of Node that this package needs: it has no dependencies, not even for types.

declare module "node:buffer" {
  export class Buffer extends Uint8Array {
    static concat(pieces: Uint8Array[]): Buffer;
    static byteLength(text: string): number;
    indexOf(text: string | number, from?: number): number;
    override subarray(start?: number, end?: number): Buffer;
    toString(encoding?: "latin1" | "utf8", start?: number, end?: number): string;
  }
}

declare module "node:net" {
  import type { Buffer } from "node:buffer";
  export interface Socket {
    on(event: "data", listener: (piece: Buffer) => void): this;
    on(event: "error", listener: (error: Error) => void): this;
    on(event: "end" | "close", listener: () => void): this;
    once(event: "connect" | "secureConnect", listener: () => void): this;
    write(data: Uint8Array | string, encoding?: "latin1" | "utf8"): boolean;
    setNoDelay(on: boolean): this;
    pause(): this;
    resume(): this;
    ref(): this;
    unref(): this;
    destroy(): this;
  }
  export function connect(options: { host?: string; port?: number; path?: string }): Socket;
}

declare module "node:tls" {
  import type { Socket } from "node:net";
  export function connect(options: { host?: string; port?: number; servername?: string }): Socket;
}
