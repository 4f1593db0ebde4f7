declare module '*.svg' {
  const text: string;
  export default text;
}

declare module '*/package.json' {
  const manifest: { version: string };
  export default manifest;
}

declare module '*?url&inline' {
  const url: string;
  export default url;
}
