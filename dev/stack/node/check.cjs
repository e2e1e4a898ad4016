// Plain JavaScript, because a Node that is too old cannot read TypeScript.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `Node.js 24 or later is needed, and this is ${process.version}: no package of dev/stack/node is installed for ` +
      `${process.platform}-${process.arch}. Run npm ci with optional dependencies, or install Node.js 24.`,
  );
  process.exit(1);
}

// Otherwise each process of the start would compile the same modules again.
process.env.NODE_COMPILE_CACHE ??= `${__dirname}/../../node_modules/.cache/compiled`;
require('node:module').enableCompileCache(process.env.NODE_COMPILE_CACHE);
