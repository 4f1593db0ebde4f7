import { LabIcon } from '@jupyterlab/ui-components';

import acaiSvg from '../../style/icons/acai.svg';

export const acaiIcon = new LabIcon({
  name: 'acai-jupyter:acai',
  svgstr: acaiSvg
});
