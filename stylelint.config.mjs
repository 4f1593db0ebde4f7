export default {
  extends: ['stylelint-config-standard'],
  rules: {
    'selector-class-pattern': [
      '^jp-(Acai[A-Z][A-Za-z]*(-[a-z][A-Za-z]*)*|mod-[a-z]+)$',
      { message: 'A class is jp-AcaiThing-part, or jp-mod-variant.' }
    ],
    'custom-property-pattern': [
      '^jp-',
      { message: "Only JupyterLab's own variables, so that every theme works." }
    ],
    'color-no-hex': true,
    'color-named': 'never',
    'function-disallowed-list': ['rgb', 'rgba', 'hsl', 'hsla', 'hwb', 'oklch'],
    'declaration-no-important': true
  }
};
