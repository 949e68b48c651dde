//! How Tandem looks: colours, type sizes, spacing, and egui's style made from them.
//!
//! The only file that makes a colour; everyone else asks a [`Theme`]. Colours stand in `assets/theme/*.ron`. One
//! accent colour marks what to press next, agents keep their colour everywhere, values are viridis.

#![expect(clippy::disallowed_methods, reason = "the one file that makes colours")]
#![expect(clippy::unused_self, reason = "everyone asks a theme, whatever it has to know to answer today")]

use std::sync::{Arc, OnceLock};

use egui::{Color32, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle};

/// Colours and measures of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// Whether the background is dark.
    pub dark: bool,
    /// Background of the page.
    pub page: Color32,
    /// Background of a card.
    pub card: Color32,
    /// Background of a button, a field, a chip.
    pub field: Color32,
    /// The same under the pointer.
    pub field_hover: Color32,
    /// Quiet lines: borders of cards, grids of plots.
    pub line: Color32,
    /// Lines that must be seen: axes, focus on plain ground.
    pub line_strong: Color32,
    /// Text.
    pub text: Color32,
    /// Secondary text: labels, units.
    pub text_dim: Color32,
    /// Tick numbers, hints.
    pub text_faint: Color32,
    /// The one accent.
    pub accent: Color32,
    /// The accent under the pointer.
    pub accent_hover: Color32,
    /// Text on the accent.
    pub on_accent: Color32,
    /// Holds, better, running.
    pub good: Color32,
    /// Look here.
    pub warn: Color32,
    /// Broken, diverged.
    pub bad: Color32,
    /// A grid cell.
    pub cell: Color32,
    /// A wall.
    pub wall: Color32,
    /// A pellet.
    pub pellet: Color32,
    /// Shadows under popups.
    pub shadow: Color32,
    /// Fills in the agents' colours; see [`Theme::agent_color`].
    agents: [Color32; 8],
    /// The same, readable as text on a card.
    agents_text: [Color32; 8],
    /// Colours of kept curves.
    kept: [Color32; 6],
    /// Measures.
    pub size: Sizes,
}

/// Type sizes and spacing, in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// Tick numbers, tags.
    pub tiny: f32,
    /// Labels, captions.
    pub small: f32,
    /// Text.
    pub body: f32,
    /// The page's name, the headline number.
    pub title: f32,
    /// Between neighbours.
    pub gap: f32,
    /// Inside a card.
    pub pad: f32,
    /// Corners of cards.
    pub radius: u8,
    /// Corners of buttons and fields.
    pub radius_field: u8,
    /// Height of a button or a field: the smallest thing to press.
    pub control: f32,
}

impl Sizes {
    /// For a mouse.
    pub const WIDE: Self = Self {
        tiny: 10.5,
        small: 12.0,
        body: 13.5,
        title: 17.0,
        gap: 8.0,
        pad: 12.0,
        radius: 10,
        radius_field: 6,
        control: 27.0,
    };
    /// For fingers.
    pub const COMPACT: Self = Self {
        tiny: 14.0,
        small: 14.0,
        body: 15.5,
        title: 19.0,
        gap: 8.0,
        pad: 12.0,
        radius: 12,
        radius_field: 8,
        control: 44.0,
    };
}

impl Theme {
    /// The dark or the light theme, for a mouse or for fingers.
    #[must_use]
    pub fn new(dark: bool, compact: bool) -> Self {
        let colours = palette(dark);
        let size = if compact { Sizes::COMPACT } else { Sizes::WIDE };
        let one = |text: &str| parse(text);
        Self {
            dark: colours.dark,
            page: one(&colours.page),
            card: one(&colours.card),
            field: one(&colours.field),
            field_hover: one(&colours.field_hover),
            line: one(&colours.line),
            line_strong: one(&colours.line_strong),
            text: one(&colours.text),
            text_dim: one(&colours.text_dim),
            text_faint: one(&colours.text_faint),
            accent: one(&colours.accent),
            accent_hover: one(&colours.accent_hover),
            on_accent: one(&colours.on_accent),
            good: one(&colours.good),
            warn: one(&colours.warn),
            bad: one(&colours.bad),
            cell: one(&colours.cell),
            wall: one(&colours.wall),
            pellet: one(&colours.pellet),
            shadow: one(&colours.shadow),
            agents: colours.agents.each_ref().map(|text| one(text)),
            agents_text: colours.agents_text.each_ref().map(|text| one(text)),
            kept: colours.kept.each_ref().map(|text| one(text)),
            size,
        }
    }

    /// Whether what can be pressed is made for fingers, not for a mouse.
    #[must_use]
    pub fn is_for_fingers(&self) -> bool {
        self.size == Sizes::COMPACT
    }

    /// Fill colour of agent number `agent`, the same everywhere.
    #[must_use]
    pub fn agent_color(&self, agent: u32) -> Color32 {
        self.agents[agent as usize % self.agents.len()]
    }

    /// The agent's colour as text on a card.
    #[must_use]
    pub fn agent_text(&self, agent: u32) -> Color32 {
        self.agents_text[agent as usize % self.agents_text.len()]
    }

    /// Text on a disc in an agent's colour, or on a pellet.
    #[must_use]
    pub fn on_agent(&self) -> Color32 {
        Color32::from_gray(0x14)
    }

    /// A joint action's dot on a surface of values; [`Theme::on_agent`] is its edge.
    #[must_use]
    pub fn dot(&self) -> Color32 {
        Color32::WHITE
    }

    /// Colour of a kept curve.
    #[must_use]
    pub fn kept_color(&self, index: u32) -> Color32 {
        self.kept[index as usize % self.kept.len()]
    }

    /// Viridis at `t` in 0 ..= 1, for values.
    #[must_use]
    pub fn viridis(&self, t: f32) -> Color32 {
        let x = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 } * (VIRIDIS.len() - 1) as f32;
        let low = (x as usize).min(VIRIDIS.len() - 2);
        let [a, b] = [VIRIDIS[low], VIRIDIS[low + 1]].map(|[r, g, b]| Color32::from_rgb(r, g, b));
        a.lerp_to_gamma(b, x - low as f32)
    }

    /// A colour that is part of a world's rules (red, green, blue from 0 to 1), drawn so that it stands out from a card.
    #[must_use]
    pub fn tint(&self, rgb: [f32; 3]) -> Color32 {
        let [r, g, b] = rgb.map(|part| (part.clamp(0.0, 1.0) * 255.0) as u8);
        self.mix(Color32::from_rgb(r, g, b), self.text, if self.dark { 0.35 } else { 0.1 })
    }

    /// Black or white, whichever is read better on `ground`.
    #[must_use]
    pub fn ink_on(&self, ground: Color32) -> Color32 {
        let [r, g, b, _] = ground.to_array().map(f32::from);
        if 0.299 * r + 0.587 * g + 0.114 * b > 140.0 { Color32::from_gray(0x14) } else { Color32::WHITE }
    }

    /// `color` at `opacity` in 0 ..= 1.
    #[must_use]
    pub fn fade(&self, color: Color32, opacity: f32) -> Color32 {
        color.gamma_multiply(opacity.clamp(0.0, 1.0))
    }

    /// Between `a` (0) and `b` (1).
    #[must_use]
    pub fn mix(&self, a: Color32, b: Color32, t: f32) -> Color32 {
        a.lerp_to_gamma(b, t.clamp(0.0, 1.0))
    }

    /// Tick numbers, tags.
    #[must_use]
    pub fn tiny(&self) -> FontId {
        FontId::proportional(self.size.tiny)
    }

    /// Labels, captions.
    #[must_use]
    pub fn small(&self) -> FontId {
        FontId::proportional(self.size.small)
    }

    /// Text.
    #[must_use]
    pub fn body(&self) -> FontId {
        FontId::proportional(self.size.body)
    }

    /// The headline number, the page's name.
    #[must_use]
    pub fn title(&self) -> FontId {
        self.strong(self.size.title)
    }

    /// Headings of cards, the chosen tab, names: semi-bold.
    #[must_use]
    pub fn strong(&self, size: f32) -> FontId {
        FontId::new(size, FontFamily::Name(STRONG.into()))
    }

    /// A card: the frame of everything on the page.
    pub fn card_frame(&self) -> egui::Frame {
        egui::Frame::new()
            .fill(self.card)
            .stroke(Stroke::new(1.0, self.line))
            .corner_radius(CornerRadius::same(self.size.radius))
            .inner_margin(Margin::same(self.size.pad as i8))
    }

    /// Makes egui look like this theme. The first call installs the fonts, which egui takes up with its next frame.
    pub fn apply(&self, ctx: &egui::Context) {
        let installed = egui::Id::unique("tandem fonts");
        if !ctx.data(|data| data.get_temp(installed).unwrap_or(false)) {
            ctx.set_fonts(fonts());
            ctx.data_mut(|data| data.insert_temp(installed, true));
        }
        let size = self.size;
        let theme = if self.dark { egui::Theme::Dark } else { egui::Theme::Light };
        ctx.set_theme(theme);
        ctx.style_mut_of(theme, |style| {
            style.text_styles = [
                (TextStyle::Small, self.tiny()),
                (TextStyle::Body, self.body()),
                (TextStyle::Button, self.body()),
                (TextStyle::Heading, self.title()),
                (TextStyle::Monospace, FontId::monospace(size.small)),
            ]
            .into();
            let spacing = &mut style.spacing;
            spacing.item_spacing = egui::vec2(size.gap, size.gap * 0.75);
            spacing.button_padding = egui::vec2(10.0, 4.0);
            spacing.interact_size = egui::vec2(size.control, size.control);
            spacing.menu_margin = Margin::same(6);
            spacing.window_margin = Margin::same(16);
            spacing.slider_rail_height = 4.0;
            spacing.combo_height = 420.0;
            spacing.tooltip_width = 320.0;
            spacing.icon_width = if self.is_for_fingers() { 20.0 } else { 15.0 };
            spacing.scroll = egui::style::ScrollStyle::floating();
            style.interaction.tooltip_delay = 0.35;
            style.interaction.selectable_labels = false;
            style.animation_time = 0.12;
            self.apply_visuals(&mut style.visuals);
        });
    }

    fn apply_visuals(&self, visuals: &mut egui::Visuals) {
        let corner = CornerRadius::same(self.size.radius_field);
        visuals.dark_mode = self.dark;
        visuals.override_text_color = None;
        visuals.weak_text_color = Some(self.text_dim);
        visuals.hyperlink_color = self.accent;
        visuals.faint_bg_color = self.field;
        visuals.extreme_bg_color = self.field;
        visuals.text_edit_bg_color = Some(self.field);
        visuals.code_bg_color = self.field;
        visuals.warn_fg_color = self.warn;
        visuals.error_fg_color = self.bad;
        visuals.panel_fill = self.page;
        visuals.window_fill = self.card;
        visuals.window_stroke = Stroke::new(1.0, self.line);
        visuals.window_corner_radius = CornerRadius::same(self.size.radius);
        visuals.menu_corner_radius = CornerRadius::same(self.size.radius);
        let shadow = Shadow { offset: [0, 6], blur: 22, spread: 0, color: self.fade(self.shadow, 0.35) };
        visuals.window_shadow = shadow;
        visuals.popup_shadow = shadow;
        visuals.selection.bg_fill = self.fade(self.accent, if self.dark { 0.45 } else { 0.25 });
        visuals.selection.stroke = Stroke::new(1.0, self.text);
        visuals.slider_trailing_fill = true;
        visuals.handle_shape = egui::style::HandleShape::Circle;
        visuals.collapsing_header_frame = false;
        visuals.indent_has_left_vline = false;
        visuals.striped = false;

        let widgets = &mut visuals.widgets;
        let state = |fill: Color32, line: Color32, text: Color32| egui::style::WidgetVisuals {
            bg_fill: fill,
            weak_bg_fill: fill,
            bg_stroke: Stroke::new(1.0, line),
            corner_radius: corner,
            fg_stroke: Stroke::new(1.0, text),
            expansion: 0.0,
        };
        widgets.noninteractive = state(self.card, self.line, self.text);
        widgets.inactive = state(self.field, self.line, self.text);
        widgets.hovered = state(self.field_hover, self.line_strong, self.text);
        widgets.active = state(self.field_hover, self.accent, self.text);
        widgets.open = state(self.field_hover, self.line_strong, self.text);
    }
}

/// Family of the semi-bold face.
const STRONG: &str = "strong";

/// Inter with tabular figures, then egui's own; what neither has is asked of the system.
fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let faces: [(&str, &'static [u8]); 2] = [
        ("Inter", include_bytes!("../../assets/fonts/Inter-Regular.otf")),
        ("Inter semi-bold", include_bytes!("../../assets/fonts/Inter-SemiBold.otf")),
    ];
    for (name, bytes) in faces {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    let fallback = fonts.families.entry(FontFamily::Proportional).or_default();
    let mut strong = fallback.clone();
    fallback.insert(0, "Inter".to_owned());
    strong.insert(0, "Inter semi-bold".to_owned());
    fonts.families.insert(FontFamily::Name(STRONG.into()), strong);
    fonts
}

/// A theme file.
#[derive(Debug, serde::Deserialize)]
struct Palette {
    dark: bool,
    page: String,
    card: String,
    field: String,
    field_hover: String,
    line: String,
    line_strong: String,
    text: String,
    text_dim: String,
    text_faint: String,
    accent: String,
    accent_hover: String,
    on_accent: String,
    good: String,
    warn: String,
    bad: String,
    cell: String,
    wall: String,
    pellet: String,
    shadow: String,
    agents: [String; 8],
    agents_text: [String; 8],
    kept: [String; 6],
}

fn palette(dark: bool) -> &'static Palette {
    static PALETTES: OnceLock<[Palette; 2]> = OnceLock::new();
    let palettes = PALETTES.get_or_init(|| {
        [include_str!("../../assets/theme/light.ron"), include_str!("../../assets/theme/dark.ron")]
            .map(|source| ron::from_str(source).expect("the embedded themes parse (tested)"))
    });
    &palettes[usize::from(dark)]
}

fn parse(text: &str) -> Color32 {
    Color32::from_hex(text).expect("the embedded themes hold colours (tested)")
}

/// Viridis (van der Walt and Smith 2015) at sixteen even steps.
const VIRIDIS: [[u8; 3]; 16] = [
    [68, 1, 84],
    [72, 26, 108],
    [71, 47, 125],
    [65, 68, 135],
    [57, 86, 140],
    [49, 104, 142],
    [42, 120, 142],
    [35, 136, 142],
    [31, 152, 139],
    [34, 168, 132],
    [53, 183, 121],
    [84, 197, 104],
    [122, 209, 81],
    [165, 219, 54],
    [210, 226, 27],
    [253, 231, 37],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_theme_files_are_whole() {
        for dark in [false, true] {
            assert_eq!(Theme::new(dark, false).dark, dark);
        }
    }

    #[test]
    fn text_is_readable_on_its_ground() {
        for dark in [false, true] {
            let theme = Theme::new(dark, false);
            let check = |what: &str, text: Color32, ground: Color32, least: f32| {
                let ratio = contrast(text, ground);
                assert!(ratio >= least, "dark {dark}: {what} {text:?} on {ground:?} has {ratio:.2}, wants {least}");
            };
            for ground in [theme.page, theme.card] {
                check("text", theme.text, ground, 7.0);
                check("dim text", theme.text_dim, ground, 4.5);
                check("faint text", theme.text_faint, ground, 4.5);
                for mark in [theme.good, theme.warn, theme.bad] {
                    check("a mark", mark, ground, 4.5);
                }
            }
            check("faint text", theme.text_faint, theme.field, 4.5);
            check("faint text", theme.text_faint, theme.cell, 4.5);
            for agent in 0..8 {
                check("an agent's text", theme.agent_text(agent), theme.card, 4.5);
                check("a kept curve's name", theme.kept_color(agent), theme.card, 4.5);
            }
            for ground in [theme.accent, theme.accent_hover] {
                check("text on the accent", theme.on_accent, ground, 4.5);
            }
        }
    }

    /// Contrast ratio of WCAG 2.
    fn contrast(a: Color32, b: Color32) -> f32 {
        let light = |color: Color32| {
            let [r, g, b, _] = egui::Rgba::from(color).to_array();
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b) = (light(a), light(b));
        a.max(b) / a.min(b)
    }
}
