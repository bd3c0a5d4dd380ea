import fs from "node:fs";
import axios from "axios";

console.log(fs, axios);
