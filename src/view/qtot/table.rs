//! The table over joint actions: what the mixer says, what is true where that is known, and the difference.

use egui::{Align2, CornerRadius, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};

use crate::view::api::ViewCtx;
use crate::view::numbers;
use crate::view::parts;
use crate::view::qtot::axes::unit;
use crate::view::qtot::picture::Picture;

/// Which numbers a table shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// The mixer's.
    #[default]
    Learned,
    /// The exact ones.
    Exact,
    /// Learned minus exact.
    Difference,
}

/// Draws the table over `size`; the joint action under the pointer. `exact` is `[|A|, |A|]` where known.
pub fn table_ui(
    ui: &mut Ui,
    ctx: &ViewCtx<'_>,
    picture: &Picture<'_>,
    exact: Option<&[f32]>,
    shown: Shown,
    size: Vec2,
) -> Option<(u32, u32)> {
    let theme = ctx.theme;
    let mixed = picture.mixed;
    let (rows, columns) = (mixed.utilities.0.len() as u32, mixed.utilities.1.len() as u32);
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    let painter = ui.painter_at(rect.expand(1.0));
    let name = |agent: u32, action: u32| ctx.action_name(agent, action);
    let widest = (0..rows)
        .map(|row| painter.layout_no_wrap(name(picture.pair.0, row), theme.tiny(), theme.text).size().x)
        .chain([painter.layout_no_wrap("−0.00".to_owned(), theme.tiny(), theme.text).size().x])
        .fold(0.0, f32::max);
    let line = theme.size.tiny * 1.35;
    let head = vec2(widest + 10.0, 2.0 * line + 6.0);
    let cell = vec2((rect.width() - head.x) / columns as f32, (rect.height() - head.y) / rows as f32);
    let cell = vec2(cell.x.min(92.0), cell.y.clamp(line + 2.0, 46.0));
    let origin = rect.min;
    let place = |row: u32, column: u32| {
        let corner = origin + head + vec2(column as f32 * cell.x, row as f32 * cell.y);
        Rect::from_min_size(corner, cell).shrink(1.0)
    };
    // Margins: action names over utilities, in the agents' colours.
    for (agent, which) in [(picture.pair.0, 0), (picture.pair.1, 1)] {
        let utilities = if which == 0 { &mixed.utilities.0 } else { &mixed.utilities.1 };
        let greedy = if which == 0 { mixed.greedy.0 } else { mixed.greedy.1 };
        for (action, utility) in (0_u32..).zip(utilities) {
            let center = if which == 0 {
                pos2(origin.x + head.x - 6.0, place(action, 0).center().y)
            } else {
                pos2(place(0, action).center().x, origin.y + line)
            };
            let ink = if action == greedy { theme.agent_text(agent) } else { theme.text_dim };
            let (above, below) = if which == 0 {
                (Align2::RIGHT_BOTTOM, Align2::RIGHT_TOP)
            } else {
                (Align2::CENTER_BOTTOM, Align2::CENTER_TOP)
            };
            let is_tight = which == 0 && cell.y < 2.0 * line;
            let above = if is_tight { Align2::RIGHT_CENTER } else { above };
            painter.text(center, above, name(agent, action), theme.tiny(), ink);
            if !is_tight {
                painter.text(center, below, numbers::short(*utility), theme.tiny(), theme.text_faint);
            }
        }
    }
    let spread = exact.map_or(1.0, |exact| {
        let off = mixed.table.iter().zip(exact).map(|(learned, exact)| (learned - exact).abs());
        off.fold(1e-6, f32::max)
    });
    let pointer = response.hover_pos().filter(|_| !parts::is_covered(ui));
    let mut hovered = None;
    for row in 0..rows {
        for column in 0..columns {
            let index = (row * columns + column) as usize;
            let cell = place(row, column);
            let learned = mixed.table.get(index).copied().unwrap_or(0.0);
            let truth = exact.and_then(|exact| exact.get(index).copied()).unwrap_or(learned);
            let is_legal = mixed.legal.get(index).copied().unwrap_or(true);
            if pointer.is_some_and(|at| cell.contains(at)) {
                hovered = Some((row, column));
            }
            let (fill, text) = match shown {
                Shown::Learned => (picture.color(ctx, learned), numbers::short(learned)),
                Shown::Exact => (theme.viridis(unit(truth, picture.ranges.z)), numbers::short(truth)),
                Shown::Difference => {
                    let off = learned - truth;
                    let fill = theme.mix(theme.cell, theme.warn, 0.75 * off.abs() / spread);
                    (fill, numbers::signed(off, numbers::short))
                }
            };
            if !is_legal {
                painter.rect_filled(cell, CornerRadius::same(3), theme.line);
                continue;
            }
            painter.rect_filled(cell, CornerRadius::same(3), fill);
            painter.text(cell.center(), Align2::CENTER_CENTER, text, theme.tiny(), theme.ink_on(fill));
            let ring = |color, width| {
                let stroke = Stroke::new(width, color);
                painter.rect_stroke(cell, CornerRadius::same(3), stroke, StrokeKind::Middle);
            };
            if picture.marked == Some((row, column)) || hovered == Some((row, column)) {
                ring(theme.text, 1.0);
            }
            if mixed.best == (row, column) && picture.is_split() {
                ring(theme.bad, 2.0);
            }
            if mixed.greedy == (row, column) {
                ring(theme.accent, 2.5);
            }
        }
    }
    if let Some(action) = hovered {
        picture.tip(ui, ctx, &response, action);
    }
    let text = ctx.texts.t("qtot.table.described").to_owned();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &text));
    hovered
}
