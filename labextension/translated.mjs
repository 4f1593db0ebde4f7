// ESLint's rules for what people read: it goes through `trans`, as whole sentences, when it is said.

/** The attributes of elements, and of our own components, that people read. */
const ATTRIBUTES = new Set(
  `alt aria-description aria-label aria-roledescription aria-valuetext asked caption label name not placeholder sure term title
  words`.split(/\s+/)
);
/** The names under which JupyterLab and we keep what people read. */
const PROPERTIES = new Set(
  'ariaLabel caption category label placeholder sentence textContent title words'.split(
    ' '
  )
);
const WORD = /\p{L}{2}/u;
/** Two words, or one beside a place. */
const SENTENCE = /\p{L}{2}[\p{L}'’]*[,;:.]?\s+[\p{L}…]|…,?\s\p{L}{2}/u;
/** What people type, and markup, by which it begins; and what has options. */
const CODE =
  /^\s*(?:%|<|acai(?:-server)? |pip |jupyter |import |jp-)|(?:^|\s|…)--\p{L}/u;
const TRANSLATES = new Set(['__', '_n']);

const untranslated = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      untranslated:
        "'{{text}}' is read by people: say it by trans.__ or trans._n."
    }
  },
  create(context) {
    const report = (node, text) => {
      context.report({
        node,
        messageId: 'untranslated',
        data: { text: text.trim() }
      });
    };
    const check = node => {
      const text = textOf(node);
      if (CODE.test(text) || isExempt(node)) {
        return;
      }
      if (SENTENCE.test(text) || (WORD.test(text) && isRead(node))) {
        report(node, text);
      }
    };
    return {
      JSXText: node => {
        if (WORD.test(node.value)) {
          report(node, node.value);
        }
      },
      Literal: node => {
        if (typeof node.value === 'string') {
          check(node);
        }
      },
      TemplateLiteral: check
    };
  }
};

const sayable = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      dynamic: 'A sentence is written out here, else nobody finds it.',
      early: 'The language is not known yet when a module is loaded.',
      places: 'What follows the sentence are its places %1 to %{{count}}.'
    }
  },
  create(context) {
    return {
      CallExpression: node => {
        const kind = translation(node);
        if (kind === null) {
          return;
        }
        const sentences = node.arguments.slice(0, kind === '_n' ? 2 : 1);
        if (!sentences.every(one => typeof one.value === 'string')) {
          context.report({ node, messageId: 'dynamic' });
          return;
        }
        if (!isInFunction(node)) {
          context.report({ node, messageId: 'early' });
        }
        const values = node.arguments.slice(sentences.length);
        if (values.some(one => one.type === 'SpreadElement')) {
          return;
        }
        const count = values.length;
        const places = new Set(
          sentences.flatMap(one =>
            [...one.value.matchAll(/%(\d+)/g)].map(([, place]) => Number(place))
          )
        );
        // The number itself may be left out, where it is written otherwise.
        const first = kind === '_n' ? 2 : 1;
        const all = Array.from({ length: count }, (_, at) => at + 1);
        if (
          Math.max(0, ...places) > count ||
          all.some(place => place >= first && !places.has(place))
        ) {
          context.report({ node, messageId: 'places', data: { count } });
        }
      }
    };
  }
};

/** By which function a call translates; null where it does not. */
function translation(node) {
  const { callee } = node;
  return callee.type === 'MemberExpression' &&
    callee.object.name === 'trans' &&
    TRANSLATES.has(callee.property.name)
    ? callee.property.name
    : null;
}

function textOf(node) {
  return node.type === 'TemplateLiteral'
    ? node.quasis.map(({ value }) => value.cooked).join('…')
    : node.value;
}

/** Whether it stands where only what people read stands; also in a choice there. */
function isRead(node) {
  const { parent } = node;
  switch (parent.type) {
    case 'JSXAttribute':
      return ATTRIBUTES.has(parent.name.name);
    case 'Property':
      return parent.value === node && PROPERTIES.has(parent.key.name);
    case 'AssignmentExpression':
      return (
        parent.right === node && PROPERTIES.has(parent.left.property?.name)
      );
    case 'JSXExpressionContainer':
      return parent.parent.type !== 'JSXAttribute' || isRead(parent);
    case 'ConditionalExpression':
      return parent.test !== node && isRead(parent);
    case 'LogicalExpression':
      return isRead(parent);
    case 'ArrowFunctionExpression':
      return parent.body === node && isRead(parent);
    default:
      return false;
  }
}

/** What is sentences for a computer, for us, or translated. */
function isExempt(node) {
  const { parent } = node;
  switch (parent.type) {
    case 'CallExpression':
      return translation(parent) !== null || isConsole(parent.callee);
    case 'NewExpression':
      // A token's description, and faults of ours that nobody is shown.
      return ['Token', 'TypeError'].includes(parent.callee.name);
    case 'Property':
      // JupyterLab shows what plugins say of themselves as it is.
      return parent.key === node || parent.key.name === 'description';
    case 'JSXAttribute':
      return /^(?:className|key|d|viewBox|data-.*)$/.test(parent.name.name);
    case 'JSXExpressionContainer':
      return parent.parent.type === 'JSXAttribute' && isExempt(parent);
    case 'BinaryExpression':
      return ['===', '!=='].includes(parent.operator);
    case 'TSLiteralType':
      return true;
    default:
      return false;
  }
}

function isConsole(callee) {
  return callee.object?.name === 'console';
}

function isInFunction(node) {
  for (let at = node.parent; at !== null; at = at.parent) {
    if (/Function/.test(at.type) || isFieldOf(at)) {
      return true;
    }
  }
  return false;
}

/** What an object of a class begins with is read when there is one. */
function isFieldOf(node) {
  return node.type === 'PropertyDefinition' && !node.static;
}

export default { rules: { sayable, untranslated } };
