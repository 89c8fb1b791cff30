import { readFileSync } from 'node:fs';
import { type Class, type Expression, type Program, parseSync, Visitor } from 'oxc-parser';

export interface ErrorMessage {
  readonly file: string;
  /** `UsageError`, `UnavailableError` or `IntegrityError`, or a class that extends one of them. */
  readonly type: string;
  /** The message, with `…` for each value that varies. */
  readonly text: string;
}

const BASES = ['UsageError', 'UnavailableError', 'IntegrityError'];

/** The messages of all errors in these files that stop a command, a process or a batch. */
export function errorMessages(files: readonly string[]): ErrorMessage[] {
  const programs = files.map((file) => [file, parseSync(file, readFileSync(file, 'utf8')).program] as const);
  const types = errorTypes(programs.map(([, program]) => program));
  const messages: ErrorMessage[] = [];
  for (const [file, program] of programs) {
    const add = (type: string, args: readonly unknown[]) => {
      const texts = args.map((arg) => textsOf(arg as Expression)).find(([text = '']) => wordsIn(text) !== '') ?? ['…'];
      messages.push(...texts.map((text) => ({ file, type, text })));
    };
    const classes: string[] = [];
    new Visitor({
      ClassDeclaration: (node) => void classes.push(node.id?.name ?? ''),
      'ClassDeclaration:exit': () => void classes.pop(),
      NewExpression: ({ callee, arguments: args }) => {
        if (callee.type === 'Identifier' && types.get(callee.name) === 'given') add(callee.name, args);
      },
      CallExpression: ({ callee, arguments: args }) => {
        const inside = classes.at(-1) ?? '';
        if (callee.type === 'Super' && types.has(inside)) add(inside, args);
        // The second argument returns the message.
        const ofLock =
          callee.type === 'MemberExpression' && callee.object.type === 'Identifier' ? callee.object.name : '';
        const [, refusal] = args;
        if (ofLock === 'ProcessLock' && refusal?.type === 'ArrowFunctionExpression') add('UsageError', [refusal.body]);
      },
    }).visit(program);
  }
  return messages;
}

/** Whether each error class gets its message from the caller (`given`) or makes it in its constructor (`own`). */
function errorTypes(programs: readonly Program[]): Map<string, 'given' | 'own'> {
  const types = new Map<string, 'given' | 'own'>(BASES.map((name) => [name, 'given']));
  const classes: Class[] = [];
  for (const program of programs) {
    new Visitor({ ClassDeclaration: (node) => void classes.push(node) }).visit(program);
  }
  for (let before = 0; before !== types.size; ) {
    before = types.size;
    for (const { id, superClass, body } of classes) {
      if (superClass?.type !== 'Identifier' || !types.has(superClass.name) || !id) continue;
      const own = body.body.some((member) => member.type === 'MethodDefinition' && member.kind === 'constructor');
      types.set(id.name, own ? 'own' : 'given');
    }
  }
  return types;
}

/** The texts that an expression can have. */
function textsOf(node: Expression | undefined): string[] {
  switch (node?.type) {
    case 'Literal':
      return [String(node.value)];
    case 'TemplateLiteral':
      return [node.quasis.map((quasi) => quasi.value.cooked ?? '').join('…')];
    case 'BinaryExpression':
      return textsOf(node.left as Expression).flatMap((left) => textsOf(node.right).map((right) => left + right));
    case 'ConditionalExpression':
      return [...textsOf(node.consequent), ...textsOf(node.alternate)];
    case 'ParenthesizedExpression':
      return textsOf(node.expression);
    default:
      return ['…'];
  }
}

/** The fixed part of a message. */
export const wordsIn = (message: string): string => message.replaceAll(/[^A-Za-z]/g, '');

/** Whether a quote, with `…` for what it leaves out, stands for this message. */
export function quotes(quote: string, message: string): boolean {
  let from = 0;
  for (const piece of quote.split('…').map((part) => part.trim())) {
    const at = message.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return true;
}
