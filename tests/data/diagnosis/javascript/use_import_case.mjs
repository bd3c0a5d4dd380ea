import { readFilesync } from "node:fs";
console.log(typeof readFilesync);
