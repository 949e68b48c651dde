//! The window: the same app as the page, its session in a thread.

use std::cell::RefCell;
use std::rc::Rc;

use crate::app::{App, Page};
use crate::platform::{Desktop, Threaded, Waker};

/// Opens a window on the experiment of `link`, if there is one, and waits until it is closed.
pub fn window(link: Option<String>) -> eframe::Result {
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default().with_inner_size([1440.0, 900.0]).with_min_inner_size([360.0, 480.0]),
        ..Default::default()
    };
    eframe::run_native(
        "Tandem",
        options,
        Box::new(|creation| {
            let waker = Waker::default();
            waker.attach(creation.egui_ctx.clone());
            let host = Desktop::new(link, creation.egui_ctx.clone());
            let page = Page::new(Box::new(host), Box::new(Threaded::spawn(waker)));
            Ok(Box::new(App(Rc::new(RefCell::new(page)))))
        }),
    )
}
