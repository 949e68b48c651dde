//! What can be seen of the page, as a screen reader would be told: role, name, value and place of every widget.
//!
//! egui draws one picture, so a program that looks at the page from outside (the browser tests, a support tool) would
//! have to guess where the buttons are. The outline costs nothing until it is asked for the first time; it then
//! describes the newest frame.

use egui::accesskit::{Node, Toggled};
use egui::{Context, FullOutput};
use serde::Serialize;

/// A widget of the newest frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Widget {
    /// AccessKit's name of its role, such as `Button`.
    pub role: String,
    /// What it is called; the text itself for a label.
    pub name: String,
    /// What it holds: a number, a text, a chosen entry.
    pub value: Option<String>,
    /// Whether it is ticked or chosen, where it can be.
    pub on: Option<bool>,
    /// Whether it refuses input.
    pub disabled: bool,
    /// x, y, width, height in CSS pixels.
    pub rect: [f32; 4],
}

/// Keeps the newest frame's widgets.
#[derive(Debug, Default)]
struct Outline {
    widgets: Vec<Widget>,
}

/// The newest frame's widgets; none before the frame after the first call.
pub fn widgets(ctx: &Context) -> Vec<Widget> {
    ctx.enable_accesskit();
    ctx.request_repaint();
    ctx.plugin_or_default::<Outline>().lock().widgets.clone()
}

impl egui::Plugin for Outline {
    fn debug_name(&self) -> &'static str {
        "outline"
    }

    fn output_hook(&mut self, ctx: &Context, output: &mut FullOutput) {
        if let Some(update) = &output.platform_output.accesskit_update {
            let zoom = ctx.zoom_factor();
            self.widgets = update.nodes.iter().filter_map(|(_, node)| widget(node, zoom)).collect();
        }
    }
}

/// A node with a name and a place; groups and layout have none.
fn widget(node: &Node, zoom: f32) -> Option<Widget> {
    let bounds = node.bounds()?;
    let value = node.value().map(str::to_owned).or_else(|| node.numeric_value().map(|value| value.to_string()));
    let (name, value) = match node.label() {
        Some(label) => (label.to_owned(), value),
        None => (value?, None),
    };
    let on = node.toggled().map(|toggled| toggled == Toggled::True);
    let rect = [bounds.x0, bounds.y0, bounds.width(), bounds.height()].map(|points| points as f32 * zoom);
    Some(Widget { role: format!("{:?}", node.role()), name, value, on, disabled: node.is_disabled(), rect })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_frame_is_described() {
        let ctx = Context::default();
        let mut ticked = true;
        for frame in 0..3 {
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                ui.label(format!("frame {frame}"));
                ui.add_enabled(false, egui::Button::new("Run"));
                ui.checkbox(&mut ticked, "monotone");
            });
            output.textures_delta.clear();
            let seen = widgets(&ctx);
            if frame == 0 {
                assert!(seen.is_empty(), "nobody had asked");
                continue;
            }
            let of = |name: &str| seen.iter().find(|widget| widget.name == name).expect("it is on the page");
            assert!(seen.iter().any(|widget| widget.name == format!("frame {frame}")));
            assert!(of("Run").disabled && of("Run").role == "Button");
            assert_eq!(of("monotone").on, Some(true));
            assert!(of("monotone").rect[1] > of("Run").rect[1], "below the button");
        }
    }
}
