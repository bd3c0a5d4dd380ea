import './bad.mjs';
