const größe: string = 'ä🙂'; type Ü = string;
console.log(größe as Ü, [...größe].length); (null as any).é;
