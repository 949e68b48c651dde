//! The page in a window without a screen: a host that tests can look into, sessions that can die, presses and clicks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use egui::{Vec2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tandem::app::Page;
use tandem::platform::{Host, Inline, Origin, SessionHandle};
use tandem_core::experiment::command::Command;
use tandem_core::experiment::snapshot::Report;

/// Surroundings that tests can look into.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) links: Vec<String>,
    pub(crate) shown: Vec<String>,
    pub(crate) stored: BTreeMap<String, String>,
    pub(crate) copied: Vec<String>,
    pub(crate) can_copy: bool,
    pub(crate) copy_result: Option<bool>,
    pub(crate) language: String,
    pub(crate) seconds: f64,
    pub(crate) seed: u64,
    pub(crate) kept: String,
    pub(crate) lang: String,
}

/// A host for tests: links in, links out, a clock that only frames move.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeHost(pub(crate) Rc<RefCell<Outside>>);

impl Host for FakeHost {
    fn now(&self) -> f64 {
        self.0.borrow().seconds
    }
    fn take_link(&mut self) -> Option<String> {
        self.0.borrow_mut().links.pop()
    }
    fn show_link(&mut self, fragment: &str) {
        self.0.borrow_mut().shown.push(fragment.to_owned());
    }
    fn keep_link(&mut self, fragment: &str) {
        fragment.clone_into(&mut self.0.borrow_mut().kept);
    }
    fn speak(&mut self, lang: &str) {
        lang.clone_into(&mut self.0.borrow_mut().lang);
    }
    fn address(&self) -> String {
        "https://tandem.test/".to_owned()
    }
    fn load(&self, key: &str) -> Option<String> {
        self.0.borrow().stored.get(key).cloned()
    }
    fn save(&mut self, key: &str, value: &str) {
        self.0.borrow_mut().stored.insert(key.to_owned(), value.to_owned());
    }
    fn copy(&mut self, text: &str) {
        let mut outside = self.0.borrow_mut();
        outside.copied.push(text.to_owned());
        outside.copy_result = Some(outside.can_copy);
    }
    fn take_copied(&mut self) -> Option<bool> {
        self.0.borrow_mut().copy_result.take()
    }
    fn language(&self) -> Option<String> {
        Some(self.0.borrow().language.clone())
    }
    fn fresh_seed(&mut self) -> u64 {
        self.0.borrow_mut().seed += 1;
        self.0.borrow().seed
    }
    fn origin(&self) -> Origin {
        Origin::Secure { webgpu: true }
    }
}

/// The page in a window.
pub(crate) struct Window {
    pub(crate) harness: Harness<'static>,
    pub(crate) page: Rc<RefCell<Page>>,
    pub(crate) outside: Rc<RefCell<Outside>>,
}

impl Window {
    /// A page opened with `link` in a window of `size`, with that theme chosen; `language` is the system's.
    pub(crate) fn open(link: &str, size: Vec2, theme: egui::Theme, language: &str) -> Self {
        let host = FakeHost::default();
        {
            let mut outside = host.0.borrow_mut();
            outside.links.push(link.to_owned());
            language.clone_into(&mut outside.language);
            let theme = if theme == egui::Theme::Dark { "dark" } else { "light" };
            outside.stored.insert("theme".to_owned(), theme.to_owned());
            outside.can_copy = true;
        }
        Self::with_session(host, Box::new(Inline::default()), size)
    }

    /// A page whose session is that one.
    pub(crate) fn with_session(host: FakeHost, session: Box<dyn SessionHandle>, size: Vec2) -> Self {
        let outside = Rc::clone(&host.0);
        let page = Rc::new(RefCell::new(Page::new(Box::new(host), session)));
        let (drawn, clock) = (Rc::clone(&page), Rc::clone(&outside));
        let builder =
            Harness::builder().with_size(size).with_max_steps(4).with_step_dt(0.05).with_context_setup(|ctx| {
                let provider = egui_system_font_provider::SystemFontProvider::new().with_locale(Some("zh-Hans"));
                ctx.add_font_provider(std::sync::Arc::new(provider));
            });
        let harness = builder.wgpu().build_ui(move |ui| {
            clock.borrow_mut().seconds += 0.05;
            let mut page = drawn.borrow_mut();
            page.logic();
            page.ui(ui);
        });
        let mut window = Self { harness, page, outside };
        window.frames(6);
        window
    }

    pub(crate) fn wide(link: &str) -> Self {
        Self::open(link, vec2(1366.0, 640.0), egui::Theme::Dark, "en")
    }

    pub(crate) fn frames(&mut self, count: usize) {
        self.harness.run_steps(count);
    }

    /// What the page says of itself.
    pub(crate) fn status(&self) -> serde_json::Value {
        serde_json::from_str(&self.page.borrow().status()).expect("the status is JSON")
    }
}

/// A session that dies when it is told to.
#[derive(Debug, Default)]
pub(crate) struct Mortal {
    inner: Inline,
    death: Rc<RefCell<Option<String>>>,
    is_dead: bool,
}

impl Mortal {
    /// One that dies of what is put into `death`.
    pub(crate) fn new(death: &Rc<RefCell<Option<String>>>) -> Self {
        Self { death: Rc::clone(death), ..Self::default() }
    }
}

impl SessionHandle for Mortal {
    fn send(&mut self, command: Command) {
        if !self.is_dead {
            self.inner.send(command);
        }
    }
    fn poll(&mut self) -> Vec<Report> {
        if self.is_dead { Vec::new() } else { self.inner.poll() }
    }
    fn take_failure(&mut self) -> Option<String> {
        let failure = self.death.borrow_mut().take()?;
        self.is_dead = true;
        Some(failure)
    }
    fn restart(&mut self) {
        *self = Self::new(&self.death);
    }
}

pub(crate) fn press(window: &mut Window, key: egui::Key) {
    window.harness.key_press(key);
    window.frames(3);
}

pub(crate) fn click(window: &mut Window, name: &str) {
    window.harness.get_by_label(name).click();
    window.frames(3);
}

/// Name of what has the keyboard.
pub(crate) fn focused(window: &Window) -> Option<String> {
    let root = window.harness.root();
    root.children_recursive()
        .find(|node| node.accesskit_node().is_focused())
        .and_then(|node| node.accesskit_node().label())
}
