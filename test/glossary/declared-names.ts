import { type BindingPattern, type ParamPattern, type PropertyKey, parseSync, Visitor } from 'oxc-parser';

export interface Found {
  readonly index: number;
  readonly word: string;
  /** The whole name that has the word. */
  readonly name?: string;
}

/** Every name that code declares: types, functions, variables, parameters, properties, and destructured names. */
export function declaredNames(path: string, text: string): Found[] {
  const { program, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const found: Found[] = [];
  const add = (index: number, word: string) => found.push({ index, word });
  const key = (node: PropertyKey, computed: boolean) => {
    if (!computed && (node.type === 'Identifier' || node.type === 'PrivateIdentifier')) add(node.start, node.name);
  };
  const id = (node: BindingPattern | null) => node && bound(node, add);
  const withParams = ({ id: own, params }: { id?: BindingPattern | null; params: readonly ParamPattern[] }) => {
    id(own ?? null);
    for (const param of params) bound(param, add);
  };
  const member = ({ key: own, computed }: { key: PropertyKey; computed: boolean }) => key(own, computed);
  new Visitor({
    VariableDeclarator: ({ id: own }) => bound(own, add),
    FunctionDeclaration: withParams,
    FunctionExpression: withParams,
    ArrowFunctionExpression: withParams,
    TSDeclareFunction: withParams,
    TSFunctionType: withParams,
    CatchClause: ({ param }) => id(param),
    ClassDeclaration: ({ id: own }) => id(own),
    ClassExpression: ({ id: own }) => id(own),
    TSInterfaceDeclaration: ({ id: own }) => id(own),
    TSTypeAliasDeclaration: ({ id: own }) => id(own),
    TSTypeParameter: ({ name }) => id(name),
    MethodDefinition: member,
    PropertyDefinition: member,
    AccessorProperty: member,
    TSPropertySignature: member,
    TSMethodSignature: (node) => {
      member(node);
      withParams(node);
    },
    ObjectExpression: ({ properties }) => {
      for (const property of properties) if (property.type === 'Property') member(property);
    },
    ImportSpecifier: ({ imported, local }) => {
      if (imported.start !== local.start) add(local.start, local.name);
    },
  }).visit(program);
  return found;
}

/** The names that a pattern binds. */
function bound(pattern: BindingPattern | ParamPattern | null, add: (index: number, name: string) => void): void {
  if (pattern === null) return;
  switch (pattern.type) {
    case 'Identifier':
      add(pattern.start, pattern.name);
      break;
    case 'AssignmentPattern':
      bound(pattern.left, add);
      break;
    case 'RestElement':
      bound(pattern.argument, add);
      break;
    case 'TSParameterProperty':
      bound(pattern.parameter, add);
      break;
    case 'ArrayPattern':
      for (const element of pattern.elements) bound(element, add);
      break;
    case 'ObjectPattern':
      for (const property of pattern.properties) bound(property.type === 'Property' ? property.value : property, add);
  }
}
