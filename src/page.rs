//! What the browser calls: `start` puts the app on a canvas, `status` and `widgets` tell what is on it, `playthroughs`
//! what the rules do here.
//!
//! The page's state outlives the runner that draws it: after a lost WebGL context `boot.js` calls `start` again with a
//! fresh canvas and everything is as it was.

use std::cell::RefCell;
use std::rc::Rc;

use eframe::{Renderer, WebOptions, WebRunner};
use tandem_core::env::playthrough::hash_of_all;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, HtmlCanvasElement, Window};

use crate::app::{App, Page};
use crate::platform::{Browser, Waker, WebSession, page_panicked, run_worker};
use crate::view::outline;

/// The one page of this instance.
#[derive(Clone)]
struct Kept {
    page: Rc<RefCell<Page>>,
    waker: Waker,
    runner: WebRunner,
    ctx: Rc<RefCell<egui::Context>>,
}

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// The module's `main`: a worker works, a page waits for [`start`].
pub fn web_main() {
    if let Some(scope) = js_sys::global().dyn_ref::<DedicatedWorkerGlobalScope>() {
        run_worker(scope);
    }
}

/// Puts the app on `canvas`. May be called again with a fresh canvas.
#[wasm_bindgen]
pub async fn start(canvas: HtmlCanvasElement) -> Result<(), JsValue> {
    let window = web_sys::window().ok_or_else(|| JsValue::from_str("no window"))?;
    let kept = KEPT.with_borrow_mut(|slot| slot.get_or_insert_with(|| keep(&window)).clone());
    let options = WebOptions {
        renderer: Renderer::Glow,
        // Inside a frame of another page the wheel belongs to that page until the reader has come in here.
        should_prevent_default: Box::new(|event| !is_wheel(event) || has_focus()),
        should_stop_propagation: Box::new(|event| !is_wheel(event) || has_focus()),
        ..WebOptions::default()
    };
    let app = kept.clone();
    kept.runner
        .start(
            canvas,
            options,
            Box::new(move |creation| {
                creation.egui_ctx.options_mut(|options| options.zoom_with_keyboard = false);
                app.waker.attach(creation.egui_ctx.clone());
                *app.ctx.borrow_mut() = creation.egui_ctx.clone();
                app.page.borrow_mut().forget_theme();
                Ok(Box::new(App(app.page)))
            }),
        )
        .await
}

/// Where the page stands, as JSON; see `app::status`.
#[wasm_bindgen]
pub fn status() -> Option<String> {
    KEPT.with_borrow(|kept| kept.as_ref().map(|kept| kept.page.borrow().status()))
}

/// What can be seen of the page, as JSON; see [`outline`].
#[wasm_bindgen]
pub fn widgets() -> Option<String> {
    KEPT.with_borrow(|kept| {
        let widgets = outline::widgets(&kept.as_ref()?.ctx.borrow());
        serde_json::to_string(&widgets).ok()
    })
}

/// Hash of the written-down episodes as this module plays them, see `env/playthrough.rs`: what tests compare.
#[wasm_bindgen]
pub fn playthroughs() -> String {
    hash_of_all().to_string()
}

/// Measures a work of [`bench`](tandem_core::experiment::bench) in this thread, as JSON; nothing where there is none of that
/// name. It takes some seconds: for a page that shows nothing else.
#[wasm_bindgen]
pub fn bench(work: &str) -> Option<String> {
    let clock = web_sys::window()?.performance()?;
    let measured = tandem_core::experiment::bench::measure(work, &mut || clock.now() / 1e3)?;
    serde_json::to_string(&measured).ok()
}

fn keep(window: &Window) -> Kept {
    let waker = Waker::default();
    let host = Browser::new(window.clone(), waker.clone());
    let session = WebSession::spawn(waker.clone());
    let page = Rc::new(RefCell::new(Page::new(Box::new(host), Box::new(session))));
    // One runner for all canvases: each new one would stack a panic hook.
    let runner = WebRunner::new();
    let earlier = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        earlier(info);
        page_panicked(&info.to_string());
    }));
    Kept { page, waker, runner, ctx: Rc::default() }
}

fn is_wheel(event: &egui::Event) -> bool {
    matches!(event, egui::Event::MouseWheel { .. } | egui::Event::Zoom(_))
}

/// Whether the document has the keyboard; always so outside a frame once the reader is here.
fn has_focus() -> bool {
    let document = web_sys::window().and_then(|window| window.document());
    document.is_none_or(|document| document.has_focus().unwrap_or(true))
}
