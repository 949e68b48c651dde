// The session's worker: the page's compiled module once more, in a global of its own.
//
// The first message is `{ module, glue }` from boot.js. Running the module runs Rust's `main`, which sets `onmessage`;
// whatever came before that is kept and delivered then. What keeps it from running is told to the page as a string.

const early = [];

self.onmessage = async ({ data: { module, glue } }) => {
  self.onmessage = (event) => early.push(event.data);
  try {
    const { default: init } = await import(glue);
    await init({ module_or_path: module });
    for (const data of early) self.dispatchEvent(new MessageEvent('message', { data }));
  } catch (error) {
    self.postMessage(String(error));
  }
};
