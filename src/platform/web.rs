//! The page's side of the browser: the session's worker, the address bar, storage, clipboard.
//!
//! Messages are merged in `onmessage` itself, because a hidden page runs no frame for minutes while its worker trains
//! on.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Reflect, Uint8Array};
use tandem_core::experiment::command::Command;
use tandem_core::experiment::snapshot::Report;
use wasm_bindgen::prelude::*;
use web_sys::{Event, MessageEvent, Storage, Window, Worker};

use super::inbox::Inbox;
use super::waker::Waker;
use super::{Host, Origin, SessionHandle, fresh_seed};

#[wasm_bindgen]
extern "C" {
    /// From `boot.js`: a worker that runs the page's compiled module once more.
    #[wasm_bindgen(js_name = tandemSpawnWorker, catch)]
    fn spawn_worker() -> Result<Worker, JsValue>;

    /// From `boot.js`: the link to show when the page has stopped; empty for the address.
    #[wasm_bindgen(js_name = tandemKeepLink)]
    fn tandem_keep_link(fragment: &str);

    /// From `boot.js`: shows that the page itself has stopped.
    #[wasm_bindgen(js_name = tandemPanicked)]
    fn tandem_panicked(text: &str);
}

/// Tells the page around the canvas that the app has stopped, and why.
pub fn page_panicked(text: &str) {
    tandem_panicked(text);
}

/// Prefix of all stored choices.
const STORED: &str = "tandem.";

/// What the message handlers and the page share.
#[derive(Debug, Default)]
struct Shared {
    inbox: RefCell<Inbox>,
    failure: RefCell<Option<String>>,
}

/// A session in a dedicated worker.
#[derive(Debug)]
pub struct WebSession {
    worker: Option<Worker>,
    shared: Rc<Shared>,
    waker: Waker,
    // Handlers, alive as long as their worker.
    _on_message: Option<Closure<dyn FnMut(MessageEvent)>>,
    _on_error: Option<Closure<dyn FnMut(Event)>>,
}

impl WebSession {
    /// Starts the worker.
    pub fn spawn(waker: Waker) -> Self {
        let shared = Rc::new(Shared::default());
        let worker = match spawn_worker() {
            Ok(worker) => worker,
            Err(error) => {
                *shared.failure.borrow_mut() = Some(format!("{error:?}"));
                return Self { worker: None, shared, waker, _on_message: None, _on_error: None };
            }
        };
        let on_message = {
            let (shared, waker) = (Rc::clone(&shared), waker.clone());
            Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
                shared.receive(&event.data());
                waker.wake();
            })
        };
        let on_error = {
            let (shared, waker) = (Rc::clone(&shared), waker.clone());
            Closure::<dyn FnMut(Event)>::new(move |event: Event| {
                // A worker that could not be loaded has no message.
                let message = Reflect::get(&event, &JsValue::from_str("message")).ok();
                shared.fail(message.and_then(|text| text.as_string()).unwrap_or_else(|| "failed.worker".to_owned()));
                waker.wake();
            })
        };
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Self { worker: Some(worker), shared, waker, _on_message: Some(on_message), _on_error: Some(on_error) }
    }
}

impl Shared {
    /// Bytes are a report, a string is why the worker stopped or did not start.
    fn receive(&self, data: &JsValue) {
        if let Some(why) = data.as_string() {
            self.fail(why);
            return;
        }
        match postcard::from_bytes::<Report>(&Uint8Array::new(data).to_vec()) {
            Ok(report) => self.inbox.borrow_mut().push(report),
            Err(error) => log::error!("a report could not be read: {error}"),
        }
    }

    /// What is told first is the cause, the rest follows from it.
    fn fail(&self, why: String) {
        self.failure.borrow_mut().get_or_insert(why);
    }
}

impl SessionHandle for WebSession {
    fn send(&mut self, command: Command) {
        let Some(worker) = &self.worker else { return };
        match postcard::to_stdvec(&command) {
            Ok(bytes) => {
                let buffer = Uint8Array::from(bytes.as_slice()).buffer();
                let _ = worker.post_message_with_transfer(&buffer, &Array::of1(&buffer));
            }
            Err(error) => log::error!("a command could not be written: {error}"),
        }
    }

    fn poll(&mut self) -> Vec<Report> {
        self.shared.inbox.borrow_mut().take()
    }

    fn take_failure(&mut self) -> Option<String> {
        let failure = self.shared.failure.borrow_mut().take()?;
        // It would go on answering with the state it had at the panic.
        if let Some(worker) = self.worker.take() {
            worker.terminate();
        }
        Some(failure)
    }

    fn restart(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.terminate();
        }
        *self = Self::spawn(self.waker.clone());
    }
}

/// The browser around the page.
#[derive(Debug)]
pub struct Browser {
    window: Window,
    link: Rc<RefCell<Option<String>>>,
    copied: Rc<Cell<Option<bool>>>,
    waker: Waker,
}

impl Browser {
    /// Reads the page's link and listens for the next ones.
    pub fn new(window: Window, waker: Waker) -> Self {
        let link = Rc::new(RefCell::new(Some(fragment(&window))));
        let on_change = {
            let (window, link, waker) = (window.clone(), Rc::clone(&link), waker.clone());
            Closure::<dyn FnMut()>::new(move || {
                *link.borrow_mut() = Some(fragment(&window));
                waker.wake();
            })
        };
        let _ = window.add_event_listener_with_callback("hashchange", on_change.into_js_value().unchecked_ref());
        Self { window, link, copied: Rc::default(), waker }
    }

    /// Storage, unless the browser forbids it (private window, frame of another site).
    fn storage(&self) -> Option<Storage> {
        self.window.local_storage().ok().flatten()
    }

    /// `navigator.NAME`, where there is one.
    fn navigator(&self, name: &str) -> Option<JsValue> {
        let value = Reflect::get(&self.window.navigator(), &JsValue::from_str(name)).ok()?;
        (!value.is_undefined() && !value.is_null()).then_some(value)
    }
}

fn fragment(window: &Window) -> String {
    window.location().hash().unwrap_or_default()
}

/// Seconds since the page was opened.
fn now() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |performance| performance.now() / 1e3)
}

impl Host for Browser {
    fn now(&self) -> f64 {
        now()
    }

    fn take_link(&mut self) -> Option<String> {
        self.link.borrow_mut().take()
    }

    fn show_link(&mut self, fragment: &str) {
        if self::fragment(&self.window) == fragment {
            return;
        }
        if let Ok(history) = self.window.history() {
            let _ = history.push_state_with_url(&JsValue::NULL, "", Some(fragment));
        }
    }

    fn keep_link(&mut self, fragment: &str) {
        tandem_keep_link(fragment);
    }

    fn speak(&mut self, lang: &str) {
        if let Some(root) = self.window.document().and_then(|document| document.document_element()) {
            let _ = root.set_attribute("lang", lang);
        }
    }

    fn address(&self) -> String {
        let address = self.window.location().href().unwrap_or_default();
        address.split('#').next().unwrap_or_default().to_owned()
    }

    fn load(&self, key: &str) -> Option<String> {
        self.storage()?.get_item(&format!("{STORED}{key}")).ok()?
    }

    fn save(&mut self, key: &str, value: &str) {
        if let Some(storage) = self.storage() {
            let _ = storage.set_item(&format!("{STORED}{key}"), value);
        }
    }

    fn copy(&mut self, text: &str) {
        if self.navigator("clipboard").is_none() {
            self.copied.set(Some(false));
            return;
        }
        let promise = self.window.navigator().clipboard().write_text(text);
        let (copied, waker) = (Rc::clone(&self.copied), self.waker.clone());
        wasm_bindgen_futures::spawn_local(async move {
            let worked = wasm_bindgen_futures::JsFuture::from(promise).await.is_ok();
            copied.set(Some(worked));
            waker.wake();
        });
    }

    fn take_copied(&mut self) -> Option<bool> {
        self.copied.take()
    }

    fn language(&self) -> Option<String> {
        self.window.navigator().language()
    }

    fn fresh_seed(&mut self) -> u64 {
        fresh_seed()
    }

    fn origin(&self) -> Origin {
        if self.window.is_secure_context() {
            Origin::Secure { webgpu: self.navigator("gpu").is_some() }
        } else {
            Origin::Insecure
        }
    }
}
