import { trans } from '../core/translation';
import { parsedSvg } from './svg';

/** A picture has so many points for each of the drawing's. */
const SHARPNESS = 2;
const PAPER = '#ffffff';

/** Have the browser keep something as a file. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** A drawing as a file of its own. */
export function svgOf(svg: string): Blob {
  const drawing = parsedSvg(svg);
  const text =
    drawing === null ? '' : new XMLSerializer().serializeToString(drawing);
  return new Blob([text], { type: 'image/svg+xml' });
}

/** A drawing as a picture on white, in the colours that stand on its shapes. */
export async function pngOf(svg: string): Promise<Blob> {
  const drawing = parsedSvg(svg);
  const [width, height] = ['width', 'height'].map(
    name => SHARPNESS * Number(drawing?.getAttribute(name))
  );
  if (drawing === null || !width || !height) {
    throw new Error(trans.__('there is nothing to make a picture of.'));
  }
  // Its style knows dark colours too, which would stand on white.
  drawing.querySelector('style')?.remove();
  const image = new Image();
  const text = new XMLSerializer().serializeToString(drawing);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (context === null) {
    throw new Error(trans.__('this browser draws no pictures.'));
  }
  context.fillStyle = PAPER;
  context.fillRect(0, 0, width, height);
  context.drawImage(image, 0, 0, width, height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(blob => {
      if (blob === null) {
        reject(
          new Error(trans.__('the picture is too large for this browser.'))
        );
      } else {
        resolve(blob);
      }
    });
  });
}
