const React = { createElement: (t: string, p: object | null, ...c: unknown[]) => ({ t, p, c }) };
const Name = ({ n }: { n: string }) => n;
console.log(JSON.stringify(<div id="a">{1 + 1}<b>text</b></div>), typeof Name);
