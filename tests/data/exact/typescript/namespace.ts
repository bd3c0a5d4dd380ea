namespace Geometry { export const unit = 1; export function area(w: number): number { return w * unit; } export namespace Deep { export const z = 3; } }
namespace Types { export interface A {} }
declare namespace Ambient { const x: number; }
console.log(Geometry.area(2), Geometry.Deep.z, typeof Geometry);
