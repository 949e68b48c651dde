//! The Q_tot sheet as one mesh, painted back to front.
//!
//! The page has no depth buffer, so the order of the triangles is the picture. For a height field under parallel
//! projection the far-to-near order of rows and columns is exact whatever the heights are: nothing is sorted, and
//! 128×128 cells stay one mesh. Lines are part of it (each cell draws its two far edges, so the nearer cell it shares
//! them with has been painted), with edges that fade over one point because meshes are not anti-aliased.

use egui::{Color32, Mesh, Pos2};

use crate::view::orbit::{Point, Projection};

/// A height field over a square grid in scene coordinates.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Points per side, at least 2.
    pub points: u32,
    /// Scene x of the first and last column.
    pub x: (f32, f32),
    /// Scene y of the first and last row.
    pub y: (f32, f32),
    /// Scene z of each point, `[points, points]`, row = y index.
    pub z: Vec<f32>,
}

/// Draw a line on every `stride`-th row and column, so that lines stay countable on a fine grid.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// Cells between two lines.
    pub stride: u32,
    /// Colour of inner lines.
    pub inner: Color32,
    /// Colour of the sheet's border.
    pub border: Color32,
}

impl Sheet {
    /// The scene point at column `i`, row `j`.
    pub fn point(&self, i: u32, j: u32) -> Point {
        let t = |k: u32, (from, to): (f32, f32)| from + (to - from) * k as f32 / (self.points - 1) as f32;
        [t(i, self.x), t(j, self.y), self.z[(j * self.points + i) as usize]]
    }

    /// Height at scene (x, y), bilinear; `None` outside.
    pub fn height(&self, x: f32, y: f32) -> Option<f32> {
        let cells = (self.points - 1) as f32;
        let u = (x - self.x.0) / (self.x.1 - self.x.0) * cells;
        let v = (y - self.y.0) / (self.y.1 - self.y.0) * cells;
        if !(0.0..=cells).contains(&u) || !(0.0..=cells).contains(&v) {
            return None;
        }
        let (i, j) = ((u as u32).min(self.points - 2), (v as u32).min(self.points - 2));
        let (fu, fv) = (u - i as f32, v - j as f32);
        let z = |i: u32, j: u32| self.z[(j * self.points + i) as usize];
        let near = z(i, j) + (z(i + 1, j) - z(i, j)) * fu;
        let far = z(i, j + 1) + (z(i + 1, j + 1) - z(i, j + 1)) * fu;
        Some(near + (far - near) * fv)
    }

    /// Whether the sheet stands between `point` and the eye.
    pub fn hides(&self, point: Point, toward: Point) -> bool {
        // Steps of half a cell in the floor's direction; straight down nothing can be hidden.
        let cell = ((self.x.1 - self.x.0).abs().min((self.y.1 - self.y.0).abs())) / (self.points - 1) as f32;
        let flat = (toward[0] * toward[0] + toward[1] * toward[1]).sqrt();
        if flat < 1e-3 || cell <= 0.0 {
            return false;
        }
        let step = 0.5 * cell / flat;
        // A dot lies on the sheet: the first cell around it does not count.
        (3..4 * self.points)
            .map(|k| k as f32 * step)
            .map_while(|t| {
                let at = [point[0] + t * toward[0], point[1] + t * toward[1], point[2] + t * toward[2]];
                self.height(at[0], at[1]).map(|height| height - at[2])
            })
            .any(|above| above > 0.01)
    }
}

/// Cells `(i, j)` of a grid with `points` per side in the order in which they must be painted.
pub fn cell_order(points: u32, toward: Point) -> impl Iterator<Item = (u32, u32)> {
    let cells = points - 1;
    let far_first = move |k: u32, toward: f32| if toward > 0.0 { k } else { cells - 1 - k };
    (0..cells)
        .flat_map(move |row| (0..cells).map(move |column| (far_first(column, toward[0]), far_first(row, toward[1]))))
}

/// The sheet as one mesh; `color` maps a scene height to its colour.
pub fn sheet_mesh(sheet: &Sheet, view: &Projection, color: impl Fn(f32) -> Color32, lines: Option<Lines>) -> Mesh {
    let n = sheet.points;
    let cells = n - 1;
    let mut mesh = Mesh::default();
    mesh.reserve_vertices((n * n) as usize);
    mesh.reserve_triangles((2 * cells * cells) as usize);
    let mut screen = Vec::with_capacity((n * n) as usize);
    for j in 0..n {
        for i in 0..n {
            let point = sheet.point(i, j);
            screen.push(view.screen(point));
            mesh.colored_vertex(view.screen(point), color(point[2]));
        }
    }
    let at = |i: u32, j: u32| j * n + i;
    // Steps from a cell's corner to its far edges.
    let far_i = u32::from(view.toward[0] <= 0.0);
    let far_j = u32::from(view.toward[1] <= 0.0);
    for (i, j) in cell_order(n, view.toward) {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        mesh.add_triangle(a, b, c);
        mesh.add_triangle(a, c, d);
        let Some(lines) = lines else { continue };
        let mut edge = |from: u32, to: u32, index: u32| {
            let is_border = index == 0 || index == cells;
            if is_border || index.is_multiple_of(lines.stride) {
                let color = if is_border { lines.border } else { lines.inner };
                push_line(&mut mesh, screen[from as usize], screen[to as usize], color, 1.0);
            }
        };
        let (column, row) = (i + far_i, j + far_j);
        edge(at(column, j), at(column, j + 1), column);
        edge(at(i, row), at(i + 1, row), row);
        // The last cells also close the near border.
        let (near_column, near_row) = (i + 1 - far_i, j + 1 - far_j);
        if near_column == 0 || near_column == cells {
            edge(at(near_column, j), at(near_column, j + 1), near_column);
        }
        if near_row == 0 || near_row == cells {
            edge(at(i, near_row), at(i + 1, near_row), near_row);
        }
    }
    mesh
}

/// Adds a line that fades from its middle to nothing at `half_width` points on either side.
pub fn push_line(mesh: &mut Mesh, from: Pos2, to: Pos2, color: Color32, half_width: f32) {
    let along = (to - from).normalized();
    let side = egui::vec2(-along.y, along.x) * half_width;
    let base = mesh.vertices.len() as u32;
    for end in [from, to] {
        mesh.colored_vertex(end - side, Color32::TRANSPARENT);
        mesh.colored_vertex(end, color);
        mesh.colored_vertex(end + side, Color32::TRANSPARENT);
    }
    for strip in [0, 1] {
        mesh.add_triangle(base + strip, base + strip + 1, base + strip + 4);
        mesh.add_triangle(base + strip, base + strip + 4, base + strip + 3);
    }
}

#[cfg(test)]
mod tests {
    use egui::{Rect, pos2};

    use super::*;
    use crate::view::orbit::Orbit;

    fn bump(points: u32) -> Sheet {
        let mut sheet = Sheet { points, x: (-1.0, 1.0), y: (-1.0, 1.0), z: vec![0.0; (points * points) as usize] };
        for j in 0..points {
            for i in 0..points {
                let [x, y, _] = sheet.point(i, j);
                sheet.z[(j * points + i) as usize] = 0.6 - 0.6 * (x * x + y * y);
            }
        }
        sheet
    }

    fn view(yaw: f32) -> Projection {
        Orbit { yaw, pitch: 0.4, zoom: 1.0 }.project(Rect::from_min_max(pos2(0.0, 0.0), pos2(500.0, 400.0)), 0.6)
    }

    #[test]
    fn a_cell_is_painted_before_every_cell_that_can_hide_it() {
        for step in 0..12 {
            let toward = view(step as f32 * 0.53).toward;
            let order: Vec<_> = cell_order(7, toward).collect();
            assert_eq!(order.len(), 36);
            let rank = |cell| order.iter().position(|&c| c == cell).expect("every cell is painted once");
            for i in 0..6_u32 {
                for j in 0..6_u32 {
                    // Walking from a cell toward the eye along either axis must lead to later cells.
                    if let Some(near) = i.checked_add_signed(if toward[0] > 0.0 { 1 } else { -1 }).filter(|&i| i < 6) {
                        assert!(rank((i, j)) < rank((near, j)));
                    }
                    if let Some(near) = j.checked_add_signed(if toward[1] > 0.0 { 1 } else { -1 }).filter(|&j| j < 6) {
                        assert!(rank((i, j)) < rank((i, near)));
                    }
                }
            }
        }
    }

    #[test]
    fn p92_a_surface_of_128_by_128_cells_is_one_mesh() {
        let sheet = bump(129);
        let lines = Lines { stride: 8, inner: Color32::BLACK, border: Color32::BLACK };
        let mesh = sheet_mesh(&sheet, &view(0.7), |_| Color32::WHITE, Some(lines));
        assert!(mesh.is_valid());
        assert!(mesh.indices.len() / 3 >= 2 * 128 * 128);
        // Bounded: at most the cells and 2·17 lines of 128 segments with 4 triangles each.
        assert!(mesh.indices.len() / 3 <= 2 * 128 * 128 + 2 * 17 * 128 * 4);
    }

    #[test]
    fn lines_are_counted_once_each() {
        let lines = Lines { stride: 1, inner: Color32::BLACK, border: Color32::BLACK };
        for yaw in [0.3, 1.9, 3.5, 5.1] {
            let mesh = sheet_mesh(&bump(5), &view(yaw), |_| Color32::WHITE, Some(lines));
            let line_triangles = mesh.indices.len() / 3 - 2 * 16;
            assert_eq!(line_triangles, 4 * (2 * 5 * 4), "5 lines of 4 segments each way");
        }
    }

    #[test]
    fn a_point_behind_the_bump_is_hidden_and_its_top_is_not() {
        let sheet = bump(33);
        let toward = view(0.0).toward; // The eye is on the +x side.
        assert!(!sheet.hides([0.0, 0.0, 0.6], toward));
        assert!(!sheet.hides([0.9, 0.0, sheet.height(0.9, 0.0).expect("inside")], toward));
        assert!(sheet.hides([-1.0, 0.0, 0.0], toward));
        assert_eq!(sheet.height(1.5, 0.0), None);
    }
}
