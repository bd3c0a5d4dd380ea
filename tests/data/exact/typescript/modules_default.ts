import def, { Named } from './d';
import * as ns from './d';
console.log(def(2), new Named(1), Object.keys(ns).sort());
