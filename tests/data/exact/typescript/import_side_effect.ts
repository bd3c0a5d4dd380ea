import 'fs';
import {} from 'path';
console.log(this, typeof require);
