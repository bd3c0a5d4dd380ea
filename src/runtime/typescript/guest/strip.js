// Turns TypeScript into JavaScript in place: parts that are only for the compiler become blanks, so
// that every line and column stays and no source map is needed. Returns undefined for a program
// where that is impossible; translate.js handles those.
// An edit is [from, to, text]: text replaces those bytes, followed by as many newlines as they
// held.
'use strict';
const { isBuiltin } = require('module');

module.exports = (ts) => {
  const { SyntaxKind: K } = ts;
  class CannotStrip extends Error {}
  const cannot = () => { throw new CannotStrip(); };

  const MODIFIERS = new Set([K.PublicKeyword, K.PrivateKeyword, K.ProtectedKeyword, K.ReadonlyKeyword, K.AbstractKeyword,
    K.OverrideKeyword, K.DeclareKeyword]);
  const FIELD_MODIFIERS = new Set([K.PublicKeyword, K.PrivateKeyword, K.ProtectedKeyword, K.ReadonlyKeyword, K.OverrideKeyword]);
  const CLASS_MEMBERS = new Set([K.PropertyDeclaration, K.MethodDeclaration, K.GetAccessor, K.SetAccessor, K.Constructor,
    K.IndexSignature]);
  const SIMPLE_STATEMENTS = new Set([K.VariableStatement, K.ExpressionStatement, K.ReturnStatement, K.ThrowStatement,
    K.PropertyDeclaration]);
  const STRICT = '"use strict";';
  const ASYNC = '(async()=>{';

  const modifiersOf = (node) => node.modifiers || [];
  const has = (node, kind) => modifiersOf(node).some((m) => m.kind === kind);
  const isTypesOnly = (node) => {
    switch (node.kind) {
      case K.InterfaceDeclaration: case K.TypeAliasDeclaration: case K.NamespaceExportDeclaration: return true;
      case K.ModuleDeclaration:
        return has(node, K.DeclareKeyword) || !node.body ||
          (node.body.kind === K.ModuleBlock ? node.body.statements.every(isTypesOnly) : isTypesOnly(node.body));
      case K.FunctionDeclaration: return !node.body;
      case K.ImportDeclaration: return !!(node.importClause && node.importClause.isTypeOnly);
      case K.ExportDeclaration: return node.isTypeOnly;
      case K.ImportEqualsDeclaration: return node.isTypeOnly;
      default: return has(node, K.DeclareKeyword);
    }
  };

  class Stripper {
    constructor(file) {
      this.file = file;
      this.text = file.text;
      this.edits = [];
      this.inFunction = 0;
      this.awaits = false; // at the top level
      this.exported = []; // [outside, inside]
      this.strictAt = undefined; // an edit of ours that the prologue can be put in front of
      this.began = false; // a statement with an effect has been seen
    }

    edit(from, to, text = '') {
      const e = [from, to, text];
      this.edits.push(e);
      return e;
    }
    skip(at) { return ts.skipTrivia(this.text, at); }
    start(node) { return this.skip(node.pos); }
    blankOnOneLine(from, to, text) {
      if (this.text.slice(from, to).includes('\n')) cannot();
      this.edit(from, to, text);
    }
    // True if only blanks and closing brackets follow on the line: then text can be added there.
    isLastOnLine(at) {
      return /^[ \t]*(?:\}[ \t]*)?(?:\/\/[^\n]*)?(?:\r?\n|$)/.test(this.text.slice(at, at + 400));
    }
    put(at, text) {
      if (!this.isLastOnLine(at)) cannot();
      this.edit(at, at, text);
    }
    // A list between < and >.
    angle(list, oneLine) {
      if (!list) return;
      const to = this.skip(list.end) + 1;
      if (oneLine) this.blankOnOneLine(list.pos - 1, to);
      else this.edit(list.pos - 1, to);
    }

    statements(list) { for (const s of list) this.visit(s); }
    children(node) { ts.forEachChild(node, (child) => this.visit(child)); }

    visit(node) {
      const visitor = VISITORS[node.kind];
      if (visitor) visitor.call(this, node);
      else if (node.kind >= K.FirstTypeNode && node.kind <= K.LastTypeNode) return; // its owner has blanked it
      else this.children(node);
    }

    blankStatement(node) {
      const e = this.edit(this.start(node), node.end, ';');
      if (!this.began && this.strictAt === undefined && node.parent === this.file) this.strictAt = e;
    }

    modifiers(node, isMember) {
      modifiersOf(node).forEach((m, i) => {
        if (m.kind === K.Decorator || m.kind === K.AccessorKeyword) cannot();
        if (!MODIFIERS.has(m.kind)) return;
        this.edit(this.start(m), m.end, isMember && i === 0 ? ';' : '');
      });
      if (node.decorators && node.decorators.length) cannot();
      if (ts.canHaveDecorators && ts.canHaveDecorators(node) && (ts.getDecorators(node) || []).length) cannot();
    }

    // The parts after a name: `?`, `!` and `: type`.
    annotation(node, text) {
      const last = node.type || node.exclamationToken || node.questionToken;
      if (last) this.edit(node.name.end, last.end, text);
    }

    parameters(node) {
      const list = node.parameters;
      list.forEach((p, i) => {
        if (p.name.kind === K.Identifier && p.name.escapedText === 'this') {
          const next = list[i + 1];
          this.edit(this.start(p), next ? this.start(next) : list.hasTrailingComma ? list.end : p.end);
          return;
        }
        if (modifiersOf(p).some((m) => FIELD_MODIFIERS.has(m.kind)) && node.kind !== K.Constructor) cannot();
        this.modifiers(p, false);
        this.annotation(p);
        this.visit(p.name);
        if (p.initializer) this.visit(p.initializer);
      });
    }

    signature(node) {
      const arrow = node.kind === K.ArrowFunction;
      this.angle(node.typeParameters, arrow);
      this.parameters(node);
      if (!node.type) return;
      if (arrow) this.blankOnOneLine(node.type.pos - 1, node.type.end);
      else this.edit(node.type.pos - 1, node.type.end);
    }

    functionLike(node, isMember) {
      if (!node.body) {
        if (isMember) this.edit(this.start(node), node.end, ';');
        else this.blankStatement(node);
        return;
      }
      this.modifiers(node, isMember);
      if (node.questionToken) this.edit(this.start(node.questionToken), node.questionToken.end);
      if (node.name) this.visit(node.name);
      this.inFunction++;
      this.signature(node);
      this.visit(node.body);
      this.inFunction--;
    }

    // `constructor(private x: number)` becomes a field and an assignment.
    parameterProperties(node) {
      const names = [];
      for (const p of node.parameters)
        if (modifiersOf(p).some((m) => FIELD_MODIFIERS.has(m.kind))) names.push(p.name.text);
      if (!names.length || !node.body) return;
      const clazz = node.parent;
      const derived = (clazz.heritageClauses || []).some((h) => h.token === K.ExtendsKeyword);
      let at = this.start(node.body) + 1;
      if (derived) {
        const first = node.body.statements[0];
        const call = first && first.kind === K.ExpressionStatement && first.expression;
        if (!call || call.kind !== K.CallExpression || call.expression.kind !== K.SuperKeyword) cannot();
        at = first.end;
      } else if (node.body.statements.length && node.body.statements[0].kind === K.ExpressionStatement &&
                 node.body.statements[0].expression.kind === K.StringLiteral) cannot();
      this.put(at, (derived ? ';' : '') + names.map((n) => `this.${n}=${n};`).join(''));
      const open = this.text.indexOf('{', clazz.members.pos - 1);
      this.put(open + 1, names.map((n) => n + ';').join(''));
    }

    classLike(node) {
      this.modifiers(node, false);
      this.angle(node.typeParameters);
      for (const h of node.heritageClauses || []) {
        if (h.token === K.ImplementsKeyword) this.edit(this.start(h), h.end);
        else this.children(h);
      }
      this.inFunction++;
      this.statements(node.members);
      this.inFunction--;
    }

    // The value of a constant initialiser, or undefined.
    enumValue(init) {
      const minus = init.kind === K.PrefixUnaryExpression && init.operator === K.MinusToken;
      const literal = minus ? init.operand : init;
      if (literal.kind === K.NumericLiteral) return minus ? -Number(literal.text) : Number(literal.text);
      if (init.kind === K.StringLiteral || init.kind === K.NoSubstitutionTemplateLiteral) return init.text;
      return undefined;
    }

    enumDeclaration(node) {
      const name = node.name.text;
      const merged = this.file.statements.filter((s) => s !== node && s.name && s.name.text === name);
      if (merged.length || node.parent !== this.file) cannot();
      let next = 0;
      const members = node.members.map((m) => {
        if (m.name.kind !== K.Identifier && m.name.kind !== K.StringLiteral) cannot();
        const value = m.initializer ? this.enumValue(m.initializer) : next;
        if (value === undefined || Number.isNaN(value)) cannot();
        next = typeof value === 'number' ? value + 1 : NaN;
        const key = JSON.stringify(m.name.text);
        return typeof value === 'string' ? `E[${key}]=${JSON.stringify(value)};`
          : `E[E[${key}]=${Object.is(value, -0) ? '-0' : value}]=${key};`;
      });
      const param = members.length ? 'E' : '';
      if (!this.isLastOnLine(node.end)) cannot();
      this.edit(this.start(node), node.end, `var ${name};(function(${param}){${members.join('')}})(${name}||(${name}={}));`);
    }

    isAtTop(node) { return node.parent === this.file; }

    importDeclaration(node) {
      if (isTypesOnly(node)) return this.blankStatement(node);
      const from = node.moduleSpecifier.text;
      if (this.began || !isBuiltin(from)) cannot();
      const clause = node.importClause;
      const call = `require(${JSON.stringify(from)})`;
      const parts = [];
      if (clause && clause.name) parts.push(`${clause.name.text}=${call}`);
      const bindings = clause && clause.namedBindings;
      if (bindings && bindings.kind === K.NamespaceImport) parts.push(`${bindings.name.text}=${call}`);
      if (bindings && bindings.kind === K.NamedImports) {
        const names = bindings.elements.filter((s) => !s.isTypeOnly).map((s) => {
          if (s.propertyName && s.propertyName.text === 'default') cannot();
          return s.propertyName ? `${s.propertyName.text}:${s.name.text}` : s.name.text;
        });
        if (names.length) parts.push(`{${names.join()}}=${call}`);
      }
      const e = this.edit(this.start(node), node.end, !clause ? `${call};` : parts.length ? `const ${parts.join()};` : ';');
      if (this.strictAt === undefined) this.strictAt = e;
    }

    exportDeclaration(node) {
      if (isTypesOnly(node)) return this.blankStatement(node);
      if (node.moduleSpecifier || !node.exportClause || node.exportClause.kind !== K.NamedExports) cannot();
      for (const s of node.exportClause.elements)
        if (!s.isTypeOnly) this.exported.push([s.name.text, (s.propertyName || s.name).text]);
      this.blankStatement(node);
    }

    // `export` before a declaration.
    exportModifier(node) {
      const modifier = modifiersOf(node).find((m) => m.kind === K.ExportKeyword);
      if (!modifier) return;
      const isDefault = modifiersOf(node).find((m) => m.kind === K.DefaultKeyword);
      if (isDefault && !node.name) cannot();
      this.edit(this.start(modifier), (isDefault || modifier).end);
      const bound = (name) => name.kind === K.Identifier ? this.exported.push([name.text, name.text])
        : name.elements.forEach((e) => e.name && bound(e.name));
      if (node.kind === K.VariableStatement) node.declarationList.declarations.forEach((d) => bound(d.name));
      else this.exported.push([isDefault ? 'default' : node.name.text, node.name.text]);
    }

    // `x as T` at the end of a statement without a semicolon: the next line must not continue the
    // expression.
    endsStatement(node) {
      let at = node;
      while (at.parent && at.parent.end === node.end && !SIMPLE_STATEMENTS.has(at.kind)) at = at.parent;
      return SIMPLE_STATEMENTS.has(at.kind) && at.end === node.end;
    }

    // Puts "use strict", and the wrapper for await, at the start of the file if there is room.
    prologue(text) {
      if (this.strictAt) {
        const e = this.strictAt;
        const length = this.text.slice(e[0], e[1]).split('\n')[0].length;
        if (e[2] === ';' && length < text.length && !this.isLastOnLine(e[1])) cannot();
        e[2] = text + (e[2] === ';' ? '' : e[2]);
        return;
      }
      const from = this.text.startsWith('#!') ? this.text.indexOf('\n') + 1 : 0;
      const first = this.file.statements[0];
      const to = first ? this.start(first) : this.text.length;
      const end = this.text.indexOf('\n', from);
      if (end < 0 || end >= to) cannot(); // the first statement is on the first line
      this.edit(from, to, text);
    }

    // A cell of a session has no imports and exports (node/guest/session_code.js), and is neither
    // strict nor wrapped.
    resultOfCell() {
      this.statements(this.file.statements);
      return { code: this.apply(), awaits: this.awaits };
    }

    result() {
      const file = this.file;
      const isModule = file.isModule || this.awaits;
      this.statements(file.statements);
      if (isModule || this.awaits) {
        const directive = file.statements[0] && file.statements[0].kind === K.ExpressionStatement &&
          file.statements[0].expression.kind === K.StringLiteral;
        if (directive) cannot();
        this.prologue(STRICT + (this.awaits ? ASYNC : ''));
      }
      const last = this.exported.map(([out, name]) =>
        `Object.defineProperty(exports,${JSON.stringify(out)},{enumerable:true,get:()=>${name}});`).join('');
      const code = this.apply();
      const mark = file.isModule && last ? 'Object.defineProperty(exports,"__esModule",{value:true});' : '';
      const close = this.awaits ? '})();' : '';
      return { code: mark + last + close ? `${code}\n;${mark}${last}${close}` : code, awaits: this.awaits };
    }

    apply() {
      const { text } = this;
      const parts = [];
      let at = 0;
      this.edits.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      for (const [from, to, put] of this.edits) {
        if (from < at) continue; // inside a part that is already removed
        parts.push(text.slice(at, from), put);
        const gone = text.slice(from, to);
        if (put === '' || put === ';') parts.push(gone.slice(put.length).replace(/[^\r\n\u2028\u2029]/g, ' '));
        else parts.push(padding(gone, put.length));
        at = to;
      }
      parts.push(text.slice(at));
      return parts.join('');
    }
  }

  // The padding after a replacement: its newlines, and blanks that keep the following columns in
  // place.
  const padding = (gone, length) => {
    const lines = gone.split('\n');
    if (lines.length === 1) return ' '.repeat(Math.max(0, gone.length - length));
    return '\n'.repeat(lines.length - 1) + ' '.repeat(lines[lines.length - 1].length);
  };

  const VISITORS = {};
  const on = (kinds, visitor) => { for (const k of kinds) VISITORS[k] = visitor; };

  on([K.InterfaceDeclaration, K.TypeAliasDeclaration, K.NamespaceExportDeclaration], function (node) { this.blankStatement(node); });
  on([K.ImportDeclaration], function (node) { this.importDeclaration(node); });
  on([K.ExportDeclaration], function (node) { this.exportDeclaration(node); });
  on([K.ExportAssignment, K.ImportEqualsDeclaration, K.MetaProperty, K.JsxElement, K.JsxSelfClosingElement, K.JsxFragment],
    function (node) {
      if (node.kind === K.MetaProperty && node.keywordToken === K.NewKeyword) return;
      if (node.kind === K.ImportEqualsDeclaration && isTypesOnly(node)) return this.blankStatement(node);
      cannot();
    });
  on([K.ModuleDeclaration], function (node) {
    if (!isTypesOnly(node)) cannot();
    this.blankStatement(node);
  });
  on([K.EnumDeclaration], function (node) {
    if (has(node, K.DeclareKeyword)) return this.blankStatement(node);
    this.began = true;
    const exported = has(node, K.ExportKeyword);
    if (exported) this.exported.push([node.name.text, node.name.text]);
    this.enumDeclaration(node);
  });
  on([K.VariableStatement], function (node) {
    if (has(node, K.DeclareKeyword)) return this.blankStatement(node);
    if (node.declarationList.flags & ~0x3 & 0x7) cannot(); // `using`
    if (this.isAtTop(node)) { this.began = true; this.exportModifier(node); }
    this.visit(node.declarationList);
  });
  on([K.VariableDeclaration, K.BindingElement], function (node) {
    if (node.kind === K.VariableDeclaration) this.annotation(node);
    if (node.propertyName) this.visit(node.propertyName);
    this.visit(node.name);
    if (node.initializer) this.visit(node.initializer);
  });
  on([K.FunctionDeclaration], function (node) {
    if (!node.body || has(node, K.DeclareKeyword)) return this.blankStatement(node);
    if (this.isAtTop(node)) { this.began = true; this.exportModifier(node); }
    this.functionLike(node, false);
  });
  on([K.FunctionExpression, K.ArrowFunction], function (node) { this.functionLike(node, false); });
  on([K.ClassDeclaration], function (node) {
    if (has(node, K.DeclareKeyword)) return this.blankStatement(node);
    if (this.isAtTop(node)) { this.began = true; this.exportModifier(node); }
    this.classLike(node);
  });
  on([K.ClassExpression], function (node) { this.classLike(node); });
  on([K.MethodDeclaration, K.GetAccessor, K.SetAccessor], function (node) {
    const member = node.parent.kind !== K.ObjectLiteralExpression;
    if (member && has(node, K.AbstractKeyword)) return void this.edit(this.start(node), node.end, ';');
    this.functionLike(node, member);
  });
  on([K.Constructor], function (node) {
    this.parameterProperties(node);
    this.functionLike(node, true);
  });
  on([K.PropertyDeclaration], function (node) {
    if (has(node, K.DeclareKeyword) || has(node, K.AbstractKeyword)) return void this.edit(this.start(node), node.end, ';');
    this.modifiers(node, true);
    this.visit(node.name);
    const bare = !node.initializer && this.text[node.end - 1] !== ';';
    this.annotation(node, bare ? ';' : '');
    if (node.initializer) this.visit(node.initializer);
  });
  on([K.IndexSignature, K.SemicolonClassElement], function (node) {
    if (node.kind === K.IndexSignature) this.edit(this.start(node), node.end, ';');
  });
  on([K.AsExpression, K.SatisfiesExpression].filter(Boolean), function (node) {
    this.visit(node.expression);
    const ends = this.endsStatement(node);
    const from = this.skip(node.expression.end);
    if (!ends && /[\r\n]/.test(this.text.slice(node.expression.end, node.end))) return void this.edit(from, node.end);
    this.edit(from, node.end, ends ? ';' : '');
  });
  on([K.TypeAssertionExpression], function (node) {
    this.blankOnOneLine(this.start(node), this.start(node.expression));
    this.visit(node.expression);
  });
  on([K.NonNullExpression], function (node) {
    this.visit(node.expression);
    this.edit(node.end - 1, node.end);
  });
  on([K.CallExpression], function (node) {
    const name = node.expression;
    if (name.kind === K.ImportKeyword) cannot();
    if (name.kind === K.Identifier && name.text === 'require' && this.file.isModule && node.arguments[0] &&
        /^\.|^\//.test(node.arguments[0].text || '')) cannot();
    this.visit(name);
    this.angle(node.typeArguments);
    this.statements(node.arguments);
  });
  on([K.NewExpression], function (node) {
    this.visit(node.expression);
    this.angle(node.typeArguments);
    if (node.arguments) this.statements(node.arguments);
  });
  on([K.TaggedTemplateExpression], function (node) {
    this.visit(node.tag);
    this.angle(node.typeArguments);
    this.visit(node.template);
  });
  on([K.ExpressionWithTypeArguments], function (node) {
    this.visit(node.expression);
    this.angle(node.typeArguments);
  });
  on([K.AwaitExpression, K.ForOfStatement], function (node) {
    if (!this.inFunction && (node.kind === K.AwaitExpression || node.awaitModifier)) this.awaits = true;
    this.began = true;
    this.children(node);
  });
  on([K.ExpressionStatement], function (node) {
    this.began = true;
    this.children(node);
  });

  return (file, isCell) => {
    if (/\.tsx$/.test(file.fileName)) return undefined;
    try {
      const stripper = new Stripper(file);
      return isCell ? stripper.resultOfCell() : stripper.result();
    } catch (e) {
      if (e instanceof CannotStrip) return undefined;
      throw e;
    }
  };
};
