//! What the panels around the views may read.

use tandem_core::experiment::presets::Preset;
use tandem_core::experiment::spec::ExperimentSpec;

use crate::platform::Origin;
use crate::view::api::ViewCtx;
use crate::view::text::Texts;
use crate::view::theme::Theme;

/// What a panel may read.
#[derive(Debug)]
pub struct PageCtx<'a> {
    /// What views may read.
    pub view: ViewCtx<'a>,
    /// The experiment as Set-up shows it; the run may not have caught up with it yet.
    pub wanted: &'a ExperimentSpec,
    /// Keys of the link that this release does not know.
    pub unknown: &'a [(String, String)],
    /// The experiment of the menu that this is.
    pub preset: Option<&'static Preset>,
    /// Where the page came from.
    pub origin: Origin,
    /// The page's address without a fragment.
    pub address: &'a str,
    /// Set-up stands in a column of its own, not in a drawer or a tab.
    pub has_setup_column: bool,
    /// The session has died.
    pub is_dead: bool,
    /// Seconds since some moment.
    pub now: f64,
}

impl<'a> PageCtx<'a> {
    /// Colours and sizes.
    pub fn theme(&self) -> &'a Theme {
        self.view.theme
    }

    /// Texts in the page's language.
    pub fn texts(&self) -> Texts {
        self.view.texts
    }

    /// The text of `id`.
    pub fn t<'t>(&self, id: &'t str) -> &'t str {
        self.view.texts.t(id)
    }
}
