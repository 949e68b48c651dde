//! The session's worker: commands in, reports out, both as bytes; the session ticks in between.
//!
//! While there is work the worker yields through a `MessageChannel` (a timer would be held back to 4 ms, and to a
//! second in a hidden page); a timer serves only what moves by itself later. A panic sends its text before the trap.

use std::cell::RefCell;

use js_sys::{Array, Uint8Array};
use tandem_core::experiment::session::Session;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, MessagePort};

/// The worker's state; there is one per global.
struct Worker {
    scope: DedicatedWorkerGlobalScope,
    session: Session,
    /// Posting here ticks again after waiting messages were let through.
    again: MessagePort,
    /// Whether a tick was asked for by `again`.
    scheduled: bool,
    timer: Option<i32>,
    on_timer: js_sys::Function,
}

thread_local! {
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

/// Runs the worker for as long as its global lives.
pub fn run(scope: &DedicatedWorkerGlobalScope) {
    let for_panic = scope.clone();
    let earlier = std::panic::take_hook();
    // `set_hook` wants `Send`; a worker has one thread, so the scope can be kept outside.
    thread_local! { static SCOPE: RefCell<Option<DedicatedWorkerGlobalScope>> = const { RefCell::new(None) }; }
    SCOPE.with_borrow_mut(|slot| *slot = Some(for_panic));
    std::panic::set_hook(Box::new(move |info| {
        let text = info.to_string();
        SCOPE.with_borrow(|scope| {
            if let Some(scope) = scope {
                let _ = scope.post_message(&JsValue::from_str(&text));
            }
        });
        earlier(info);
    }));

    let Ok(channel) = MessageChannel::new() else { return };
    let on_again = Closure::<dyn FnMut()>::new(|| {
        with_worker(|worker| {
            worker.scheduled = false;
            worker.tick();
        });
    });
    channel.port1().set_onmessage(Some(on_again.into_js_value().unchecked_ref()));
    let on_timer = Closure::<dyn FnMut()>::new(|| {
        with_worker(|worker| {
            worker.timer = None;
            worker.tick();
        });
    });
    let worker = Worker {
        scope: scope.clone(),
        session: Session::new(),
        again: channel.port2(),
        scheduled: false,
        timer: None,
        on_timer: on_timer.into_js_value().unchecked_into(),
    };
    WORKER.with_borrow_mut(|slot| *slot = Some(worker));

    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
        let bytes = Uint8Array::new(&event.data()).to_vec();
        with_worker(|worker| worker.receive(&bytes));
    });
    scope.set_onmessage(Some(on_message.into_js_value().unchecked_ref()));
}

fn with_worker(act: impl FnOnce(&mut Worker)) {
    WORKER.with_borrow_mut(|worker| worker.as_mut().map(act));
}

impl Worker {
    fn receive(&mut self, bytes: &[u8]) {
        match postcard::from_bytes(bytes) {
            Ok(command) => self.session.apply(command),
            Err(error) => log::error!("a command could not be read: {error}"),
        }
        self.schedule();
    }

    fn tick(&mut self) {
        let mut clock = || now(&self.scope);
        let tick = self.session.tick(&mut clock);
        for report in self.session.take_reports() {
            match postcard::to_stdvec(&report) {
                Ok(bytes) => self.post(&bytes),
                Err(error) => log::error!("a report could not be written: {error}"),
            }
        }
        if tick.busy {
            self.schedule();
        } else if let Some(seconds) = tick.wake_in {
            if let Some(timer) = self.timer.take() {
                self.scope.clear_timeout_with_handle(timer);
            }
            let millis = (seconds * 1e3).clamp(0.0, 1e9).ceil() as i32;
            self.timer = self.scope.set_timeout_with_callback_and_timeout_and_arguments_0(&self.on_timer, millis).ok();
        }
    }

    fn schedule(&mut self) {
        if !self.scheduled {
            self.scheduled = self.again.post_message(&JsValue::NULL).is_ok();
        }
    }

    fn post(&self, bytes: &[u8]) {
        let buffer = Uint8Array::from(bytes).buffer();
        let _ = self.scope.post_message_with_transfer(&buffer, &Array::of1(&buffer));
    }
}

fn now(scope: &DedicatedWorkerGlobalScope) -> f64 {
    scope.performance().map_or(0.0, |performance| performance.now() / 1e3)
}
