// Translates TypeScript to JavaScript with TypeScript's own compiler and a source map, for programs
// that strip.js cannot handle.
'use strict';
const fs = require('fs');
const path = require('path');

module.exports = (ts) => {
  const { SyntaxKind: K, factory: f } = ts;

  // './x.js' in an import means './x.ts', as the compiler requires it.
  const specifier = (text, dir) => {
    const found = /^(\.{1,2}\/.*)\.([cm]?)js(x?)$/.exec(text);
    if (!found || fs.existsSync(path.resolve(dir, text))) return undefined;
    for (const end of [`.${found[2]}ts`, '.tsx'])
      if (fs.existsSync(path.resolve(dir, found[1] + end))) return found[1] + end;
    return undefined;
  };

  // The value of import.meta in a module.
  const meta = () => f.createParenthesizedExpression(f.createObjectLiteralExpression([
    f.createPropertyAssignment('url', f.createPropertyAccessExpression(f.createCallExpression(
      f.createPropertyAccessExpression(f.createCallExpression(f.createIdentifier('require'), undefined,
        [f.createStringLiteral('url')]), 'pathToFileURL'), undefined, [f.createIdentifier('__filename')]), 'href')),
    f.createPropertyAssignment('filename', f.createIdentifier('__filename')),
    f.createPropertyAssignment('dirname', f.createIdentifier('__dirname')),
  ]));

  const before = (dir) => (context) => (root) => {
    const visit = (node) => {
      if (node.kind === K.MetaProperty && node.keywordToken === K.ImportKeyword) return meta();
      const other = node.kind === K.StringLiteral && node.parent && (node.parent.moduleSpecifier === node ||
        node.parent.kind === K.CallExpression) ? specifier(node.text, dir) : undefined;
      return other ? f.createStringLiteral(other) : ts.visitEachChild(node, visit, context);
    };
    return ts.visitNode(root, visit);
  };

  const options = (awaits) => ({
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
    esModuleInterop: true,
    sourceMap: true,
    inlineSources: true,
    jsx: ts.JsxEmit.React,
    // Standard decorators need TypeScript 5.
    experimentalDecorators: parseInt(ts.versionMajorMinor, 10) < 5,
    moduleDetection: awaits && ts.ModuleDetectionKind ? ts.ModuleDetectionKind.Force : undefined,
  });

  return (filename, text, awaits) => {
    const out = ts.transpileModule(text, { fileName: filename, compilerOptions: options(awaits),
      transformers: { before: [before(path.dirname(filename))] } });
    let code = out.outputText.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
    if (awaits) code = code.replace(/^"use strict";/, '"use strict";(async()=>{') + '})();\n';
    const map = JSON.parse(out.sourceMapText);
    map.sources = [filename];
    const inline = Buffer.from(JSON.stringify(map)).toString('base64');
    return `${code}//# sourceMappingURL=data:application/json;base64,${inline}\n`;
  };
};
