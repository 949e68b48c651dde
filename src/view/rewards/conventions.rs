//! simple_spread's return in every convention it is published in, from the same raw parts: nothing is rerun.
//!
//! With G = −Σ over env steps and landmarks of the nearest agent's distance, C the ordered pairs in contact summed over env
//! steps, N agents and T env steps: A = (G − C/N)/2, B = N·A, C = G, D = N·G − C − N·T, E = A − T/2. D and E also move
//! by the older integrator, so figures of agents are comparable only within one of them.

use egui::{Grid, Label, RichText, Ui};
use tandem_core::env::particles::Scenario;
use tandem_core::experiment::spec::EnvChoice;

use crate::view::api::ViewCtx;
use crate::view::numbers;
use crate::view::widgets::note;

/// Text ids of the conventions and of their formulas.
const NAMES: [(&str, &str); 5] = [
    ("conventions.a", "conventions.a.formula"),
    ("conventions.b", "conventions.b.formula"),
    ("conventions.c", "conventions.c.formula"),
    ("conventions.d", "conventions.d.formula"),
    ("conventions.e", "conventions.e.formula"),
];

/// What the reward's raw parts come to in each convention, per episode of `steps` env steps: `global` is G, `contacts`
/// is C, of `agents`.
#[must_use]
pub fn conventions(global: f64, contacts: f64, agents: f64, steps: f64) -> [f64; 5] {
    let a = (global - contacts / agents) / 2.0;
    [a, agents * a, global, agents * global - contacts - agents * steps, a - steps / 2.0]
}

/// The table, from the newest evaluation.
pub(super) fn conventions_ui(ui: &mut Ui, ctx: &ViewCtx<'_>) {
    // Without recorded contacts, or with episodes of unlike length, the parts do not tell the others.
    let particles = &ctx.spec.particles;
    let tells = particles.curriculum != Some(0) && !particles.terminate_on_success;
    if ctx.spec.env != EnvChoice::Particles(Scenario::Spread) || !tells {
        return;
    }
    let (texts, theme) = (ctx.texts, ctx.theme);
    let (agents, width) = (ctx.facts.num_agents as usize, ctx.facts.part_names.len());
    let is_v3 = ctx.facts.part_names.iter().any(|name| name == "part.local");
    let figures = ctx.curve.last().filter(|point| point.parts.len() == agents * width).map(|point| {
        let part = |agent: usize, k: usize| f64::from(point.parts[agent * width + k]);
        // v3 has each agent's own contacts, the original everyone's in every agent's reward.
        let contacts = if is_v3 { -(0..agents).map(|agent| part(agent, 1)).sum::<f64>() } else { -part(0, 1) };
        conventions(part(0, 0), contacts, agents as f64, f64::from(ctx.facts.max_steps))
    });
    let own = if is_v3 { 0 } else { 3 };
    ui.spacing_mut().interact_size.y = 0.0;
    ui.label(RichText::new(texts.t("conventions.title")).font(theme.small()).color(theme.text_dim));
    let widest = ui.available_width() - 84.0;
    Grid::new("conventions").num_columns(3).spacing([14.0, 3.0]).max_col_width(widest).show(ui, |ui| {
        for (k, (name, formula)) in NAMES.iter().enumerate() {
            let ink = if k == own { theme.text } else { theme.text_dim };
            let label = |ui: &mut Ui, text: &str| ui.label(RichText::new(text).font(theme.small()).color(ink));
            let value = figures.map_or_else(|| "–".to_owned(), |figures| numbers::value(figures[k] as f32));
            label(ui, &value);
            let named = Label::new(RichText::new(texts.t(name)).font(theme.small()).color(ink));
            let named = ui.add(if ctx.compact { named.wrap() } else { named });
            named.on_hover_text(texts.t("conventions.tip"));
            if !ctx.compact {
                label(ui, texts.t(formula));
            }
            ui.end_row();
        }
    });
    note(ui, theme, texts.t("conventions.note"));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform play of the reference: A −26.55, B −79.64, C −52.27, D −234.3 with 2.47 contacts an episode (N = 3, T = 25).
    #[test]
    fn p54_the_table_converts_as_measured() {
        let found = conventions(-52.27, 2.47, 3.0, 25.0);
        for (found, measured) in found.into_iter().zip([-26.55, -79.64, -52.27, -234.3, -26.55 - 12.5]) {
            assert!((found - measured).abs() < 0.06, "{found} should be {measured}");
        }
    }
}
