import { LabIcon } from '@jupyterlab/ui-components';

import acaiSvg from '../../style/icons/acai.svg';
import dataSvg from '../../style/icons/data.svg';
import optionsSvg from '../../style/icons/options.svg';

export const acaiIcon = new LabIcon({
  name: 'acai-jupyter:acai',
  svgstr: acaiSvg
});

export const dataIcon = new LabIcon({
  name: 'acai-jupyter:data',
  svgstr: dataSvg
});

export const optionsIcon = new LabIcon({
  name: 'acai-jupyter:options',
  svgstr: optionsSvg
});
