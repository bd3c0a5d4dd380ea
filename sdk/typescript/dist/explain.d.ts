import type { Cell, CellEnd, CellEvent, Event, Result } from "./models.js";
/** Why a program failed, in a few lines: for people, and for models. Empty if it ended well. */
export declare function explain(outcome: Result | Cell | CellEnd): string;
/** The exact bytes of an event `stdout` or `stderr`; none for other events. */
export declare function bytesOf(event: Event | CellEvent): Uint8Array;
/** The text of an event `stdout` or `stderr`; empty for other events. */
export declare function textOf(event: Event | CellEvent): string;
/** The PNG images among the displays of a run or a cell. */
export declare function imagesOf(outcome: Result | Cell): Uint8Array[];
export declare function toBase64(bytes: Uint8Array): string;
export declare function fromBase64(text: string): Uint8Array;
