'use strict';
try { undeclared = 1; } catch (e) { console.log(e.message); }
