import { deep } from './a/b/deep';
import * as index from './pkg';
console.log(deep, index.value);
