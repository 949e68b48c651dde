//! The whole page on an inline session: what a person can press, reach by keyboard, and see at the sizes people have.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use egui::{Vec2, vec2};
use egui_kittest::Harness;
use tandem::app::Page;
use tandem::platform::{Host, Inline, Origin};

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
        let outside = Rc::clone(&host.0);
        let page = Rc::new(RefCell::new(Page::new(Box::new(host), Box::new(Inline::default()))));
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
