// Starts the page: checks the browser, loads the module with progress in bytes, hands it a canvas, and says what is
// wrong in words when any of that fails or the app stops later.
//
// Three names are for the Rust side:
//   globalThis.tandemSpawnWorker()     a Worker that runs the same compiled module (see worker.js)
//   globalThis.tandemPanicked(text)    called by the panic hook of the page
//   globalThis.tandemKeepLink(link)    what stands behind # in the link of the experiment as it is edited; '' for the address
// The rest is for tests, measurements and bug reports: `globalThis.tandem` holds the exports (`status()`, `widgets()`), and
// the performance marks `tandem-bytes` and `tandem-picture` tell when all bytes were here and when the first frame was drawn.
//
// Nothing here needs a secure origin, and the link (the part behind #) stays as it is until an edited experiment is tried again.

const TEXT = {
  en: {
    about: 'A multi-agent reinforcement-learning laboratory that is a web page.',
    loading: (got, all) => `Loading: ${got} of ${all} MB`,
    loadingUnknown: (got) => `Loading: ${got} MB`,
    starting: 'Starting …',
    measuring: (work) => `Measuring ${work} …`,
    measured: 'Measured; all check values hold:',
    checksOff: (works) => `Check values are off in ${works}: what is below is no measurement.`,
    nothingMeasured: 'Nothing was measured:',
    noWork: (work) => `There is no work “${work}”; W1, W2, W3, W4, W5 and connect_four can be measured.`,
    noWasm: 'This browser has no WebAssembly, in which Tandem computes. Any browser from 2023 on has it; some protected modes switch it off.',
    noSimd: 'This browser’s WebAssembly lacks vector instructions (SIMD). Any browser from 2023 on has them.',
    noModuleWorkers: 'This browser cannot run modules in a worker, where Tandem trains. Any browser from 2023 on can.',
    noWebGl: 'This browser gives no WebGL2, with which Tandem draws. It may be switched off in the settings (“hardware acceleration”) or be blocked for this graphics card.',
    fetch: 'A part of the page could not be loaded. Check the connection, then try again.',
    broken: 'The page was loaded but could not be started. If you just updated it, load it again without the cache.',
    panic: 'Tandem has stopped because of a mistake in its program. Your experiment is in the link below; the training of this tab is lost.',
    lost: 'The browser takes the drawing surface (WebGL) away again and again. Closing other tabs that draw a lot may help.',
    link: 'The link to this experiment',
    retry: 'Try again',
    copy: 'Copy link',
    copied: 'Copied',
    selected: 'Selected: copy it',
  },
  zh: {
    about: '一个网页形式的多智能体强化学习实验室。',
    loading: (got, all) => `正在加载：${got} / ${all} MB`,
    loadingUnknown: (got) => `正在加载：${got} MB`,
    starting: '正在启动……',
    measuring: (work) => `正在测量 ${work}……`,
    measured: '测量完成，所有校验值相符：',
    checksOff: (works) => `${works} 的校验值不符：下面的数字不算测量结果。`,
    nothingMeasured: '没有测量任何任务：',
    noWork: (work) => `没有名为“${work}”的任务；可测量 W1、W2、W3、W4、W5 和 connect_four。`,
    noWasm: '此浏览器没有 WebAssembly，而 Tandem 用它计算。2023 年以后的浏览器都支持；某些保护模式会将其关闭。',
    noSimd: '此浏览器的 WebAssembly 缺少向量指令（SIMD）。2023 年以后的浏览器都支持。',
    noModuleWorkers: '此浏览器不能在 Worker 中运行模块，而 Tandem 在其中训练。2023 年以后的浏览器都支持。',
    noWebGl: '此浏览器无法提供 WebGL2，而 Tandem 用它绘图。可能是设置中关闭了“硬件加速”，或者该显卡被禁用。',
    fetch: '页面的一部分无法加载。请检查网络连接后重试。',
    broken: '页面已加载，但无法启动。如果刚刚更新过，请清除缓存后重新加载。',
    panic: 'Tandem 因程序错误而停止。实验设置保存在下面的链接中；本标签页的训练进度已丢失。',
    lost: '浏览器反复收回绘图界面（WebGL）。关闭其他大量绘图的标签页可能有帮助。',
    link: '本实验的链接',
    retry: '重试',
    copy: '复制链接',
    copied: '已复制',
    selected: '已选中：请复制',
  },
};

/** Sizes and version that the build wrote into the page; `{}` under Trunk. */
const BUILD = JSON.parse(document.querySelector('meta[name="tandem-build"]').content);
const VERSION = BUILD.version ? `?v=${BUILD.version}` : '';
const here = (file) => new URL(`${file}${VERSION}`, new URL('.', import.meta.url)).href;
let glueUrl = here('tandem.js');
const WASM = here('tandem_bg.wasm');

/** `?bench=w1,w5` measures instead of showing the app: names of works, separated by commas. */
const WORKS = new URLSearchParams(location.search).get('bench');

const element = (id) => document.getElementById(id);
const text = TEXT[language()];

let module; // WebAssembly.Module, shared with the workers
let app; // exports of the page's instance
let failed = ''; // the reason, once there is one
let edited = ''; // link of what the app shows, where the address bar has another one
let recentLosses = [];

/** A reason for not starting: a key of TEXT and whatever the browser said. */
class Failure extends Error {
  constructor(reason, detail = '') {
    super(detail);
    this.reason = reason;
  }
}

globalThis.tandemSpawnWorker = () => {
  const worker = new Worker(here('worker.js'), { type: 'module', name: 'tandem session' });
  worker.postMessage({ module, glue: glueUrl });
  return worker;
};
globalThis.tandemKeepLink = (link) => { edited = link; };
globalThis.tandemPanicked = (message) => fail(new Failure('panic', message));

// A trap that no panic hook announced (stack overflow, out of memory) ends the app just the same.
const trapped = (error) => error instanceof globalThis.WebAssembly?.RuntimeError && fail(new Failure('panic', String(error.stack ?? error)));
addEventListener('error', (event) => trapped(event.error));
addEventListener('unhandledrejection', (event) => trapped(event.reason));

element('boot-retry').onclick = retry;
element('boot-copy').onclick = copyLink;
element('boot-link').onfocus = (event) => event.target.select();
boot();

async function boot() {
  document.documentElement.lang = text === TEXT.zh ? 'zh-Hans' : 'en';
  element('boot-about').textContent = text.about;
  element('boot').classList.remove('failed');
  element('boot-failure').hidden = true;
  failed = '';
  const abort = new AbortController();
  try {
    check();
    // Both at once: the glue is small and the module's bytes should not wait for it.
    const [glue, compiled] = await Promise.all([importGlue(), load(abort.signal)]);
    module = compiled;
    element('boot-status').textContent = text.starting;
    try {
      await glue.default({ module_or_path: module });
      globalThis.tandem = app = glue;
      if (WORKS !== null) return await measure();
      await app.start(watched(element('tandem')));
    } catch (error) {
      throw new Failure('broken', String(error?.stack ?? error));
    }
    reveal();
  } catch (error) {
    abort.abort();
    fail(error instanceof Failure ? error : new Failure('broken', String(error?.stack ?? error)));
  }
}

/** Throws for a browser that cannot run the page at all. */
function check() {
  if (typeof WebAssembly !== 'object') throw new Failure('noWasm');
  // A function `i32 → v128` made of `i8x16.splat`.
  const simd = [0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 32, 0, 253, 15, 11];
  if (!WebAssembly.validate(Uint8Array.from(simd))) throw new Failure('noSimd');

  let readsType = false;
  const empty = URL.createObjectURL(new Blob([''], { type: 'text/javascript' }));
  try {
    new Worker(empty, { get type() { readsType = true; return 'module'; } }).terminate();
  } catch {
    // A policy may forbid this worker, not ours; whether the browser asked for the type is all that counts.
  }
  URL.revokeObjectURL(empty);
  if (!readsType) throw new Failure('noModuleWorkers');

  const gl = document.createElement('canvas').getContext('webgl2');
  if (!gl) throw new Failure('noWebGl');
  gl.getExtension('WEBGL_lose_context')?.loseContext();
}

async function importGlue() {
  try {
    return await import(glueUrl);
  } catch (error) {
    glueUrl += `${glueUrl.includes('?') ? '&' : '?'}again`; // some browsers remember that an import failed
    throw new Failure('fetch', String(error));
  }
}

/** The compiled module; progress counts bytes of the form that is measured: the unpacked one, or our own `.gz`. */
async function load(signal) {
  const response = await get(WASM, signal);
  const encoded = response.headers.get('content-encoding');
  if (!encoded && BUILD.gzip && typeof DecompressionStream === 'function') {
    // The host compresses nothing. A site from `cargo xtask dist` has the packed file beside the plain one: a third of the bytes.
    const packed = await get(here('tandem_bg.wasm.gz'), signal).catch(() => null);
    if (packed) {
      const compiled = await compilePacked(packed).catch(() => null);
      if (compiled) {
        response.body.cancel();
        return compiled;
      }
    }
  }
  const total = BUILD.wasm ?? (encoded ? 0 : Number(response.headers.get('content-length')));
  return compile(counted(response.body, total));
}

async function compilePacked(response) {
  // A host that declares the encoding has had it removed by the browser already.
  if (response.headers.get('content-encoding')) return compile(counted(response.body, BUILD.wasm));
  return compile(counted(response.body, BUILD.gzip).pipeThrough(new DecompressionStream('gzip')));
}

async function compile(stream) {
  try {
    // A Response of our own has the right MIME type whatever the host says.
    return await WebAssembly.compileStreaming(new Response(stream, { headers: { 'content-type': 'application/wasm' } }));
  } catch (error) {
    // A CompileError means wrong bytes; anything else came from the network in the middle of them.
    throw new Failure(error instanceof WebAssembly.CompileError ? 'broken' : 'fetch', String(error));
  }
}

async function get(url, signal) {
  let response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    throw new Failure('fetch', `${url}\n${error}`);
  }
  if (!response.ok) throw new Failure('fetch', `${url}\nHTTP ${response.status} ${response.statusText}`);
  return response;
}

/** The same stream; its bytes move the bar. `total` 0: unknown. */
function counted(stream, total) {
  let got = 0;
  progress(0, total);
  return stream.pipeThrough(new TransformStream({
    transform(chunk, controller) {
      got += chunk.byteLength;
      progress(got, total);
      controller.enqueue(chunk);
    },
    flush() {
      performance.mark('tandem-bytes');
    },
  }));
}

function progress(got, total) {
  if (failed) return;
  const mb = (bytes) => (bytes / 1e6).toFixed(1);
  const part = total ? Math.min(1, got / total) : 0;
  const bar = element('boot-bar');
  bar.style.setProperty('--part', part);
  if (total) bar.setAttribute('aria-valuenow', Math.round(100 * part));
  element('boot-status').textContent = total ? text.loading(mb(got), mb(total)) : text.loadingUnknown(mb(got));
}

/** Measures the works one by one and shows each result as a line of JSON; `tandemMeasured` has them all. */
async function measure() {
  const measured = [];
  element('boot-detail').textContent = '';
  for (const id of ['boot-link', 'boot-link-label', 'boot-retry', 'boot-copy']) element(id).style.display = 'none';
  element('boot-failure').hidden = false;
  element('boot').classList.add('measuring');
  for (const work of WORKS.split(',').map((word) => word.trim())) {
    element('boot-status').textContent = text.measuring(work);
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
    const line = app.bench(work);
    measured.push(line ? JSON.parse(line) : null);
    element('boot-detail').textContent += `${line ?? text.noWork(work)}\n`;
  }
  element('boot-status').textContent = verdict(measured.filter((work) => work));
  globalThis.tandemMeasured = measured;
}

/** What the works that exist came to: numbers other than those of other implementations are no measurement. */
function verdict(measured) {
  const off = measured.filter((work) => !work.holds).map((work) => work.work);
  if (off.length) return text.checksOff(off.join(', '));
  return measured.length ? text.measured : text.nothingMeasured;
}

/** Takes the loading card away once the app has painted over it. */
function reveal() {
  requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark('tandem-picture');
    if (!failed) element('boot').hidden = true;
  }));
}

/** A canvas whose lost WebGL context is answered by a fresh canvas: eframe would leave it blank. */
function watched(canvas) {
  canvas.addEventListener('webglcontextlost', async () => {
    if (failed || !canvas.isConnected) return;
    const now = performance.now();
    recentLosses = [...recentLosses.filter((time) => now - time < 30_000), now];
    if (recentLosses.length > 3) return fail(new Failure('lost'));
    const fresh = document.createElement('canvas');
    fresh.id = canvas.id;
    canvas.replaceWith(fresh);
    try {
      await app.start(watched(fresh));
    } catch (error) {
      fail(new Failure('noWebGl', String(error)));
    }
  });
  return canvas;
}

function fail({ reason, message }) {
  if (failed) return; // the first reason is the cause, the rest follows from it
  failed = reason;
  element('boot').hidden = false;
  element('boot').classList.add('failed');
  element('boot-status').textContent = text[reason];
  element('boot-detail').textContent = message;
  element('boot-link-label').textContent = text.link;
  element('boot-link').value = link();
  element('boot-retry').textContent = text.retry;
  element('boot-copy').textContent = text.copy;
  element('boot-failure').hidden = false;
}

/** Address of the experiment on the page. */
function link() {
  return edited ? location.href.split('#')[0] + edited : location.href;
}

/** What the network withheld is asked for again in place: a reload without a connection would lose the page. */
function retry() {
  if (failed === 'fetch') return boot();
  history.replaceState(null, '', link());
  location.reload();
}

async function copyLink() {
  const button = element('boot-copy');
  try {
    await navigator.clipboard.writeText(link());
    button.textContent = text.copied;
  } catch {
    // No clipboard on an insecure origin: select the text instead.
    element('boot-link').focus();
    element('boot-link').select();
    button.textContent = text.selected;
  }
}

/** Link, else the last choice, else the browser. */
function language() {
  const inLink = /(?:^#|&)lang=([^&]*)/.exec(location.hash)?.[1];
  let saved;
  try {
    saved = localStorage.getItem('tandem.lang');
  } catch {
    // Storage may be forbidden (private window, frame of another site).
  }
  const known = [inLink, saved].find((name) => Object.hasOwn(TEXT, name));
  return known ?? (navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en');
}
