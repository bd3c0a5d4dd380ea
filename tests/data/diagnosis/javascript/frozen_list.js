"use strict";
const days = Object.freeze(["mon"]);
days.push("tue");
