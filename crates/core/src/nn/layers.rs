//! Shapes of networks and where their parameters lie in one flat buffer.
//!
//! Nothing here holds a number: a network is a description, weights are a `&[R]` beside it, and gradients, targets
//! and optimiser moments have the same layout. Invariant: rows are padded to whole lanes and padding is 0 for ever
//! (it starts 0, gets gradient 0, and every optimiser leaves 0 at 0).

use crate::base::lanes::padded;

/// What follows a hidden layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// max(x, 0), derivative 0 at 0.
    Relu,
    /// tanh(x).
    Tanh,
}

impl Activation {
    /// What shaders call it; 0 is none.
    pub fn number(self) -> u32 {
        match self {
            Self::Relu => 1,
            Self::Tanh => 2,
        }
    }
}

/// A matrix in a flat parameter buffer, row-major: element (i, j) lies at `offset + i·padded(cols) + j`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Path such as `agent.0.weight`, unique in its layout.
    pub name: String,
    /// Rows.
    pub rows: u32,
    /// Columns without padding.
    pub cols: u32,
    /// Where element (0, 0) lies.
    pub offset: u32,
}

impl Tensor {
    /// Numbers from one row to the next.
    pub fn stride(&self) -> u32 {
        padded(self.cols)
    }

    /// The places it takes in the flat buffer, padding included.
    pub fn range(&self) -> std::ops::Range<usize> {
        let start = self.offset as usize;
        start..start + (self.rows * self.stride()) as usize
    }

    /// Parameters, padding not counted.
    pub fn num_parameters(&self) -> u32 {
        self.rows * self.cols
    }
}

/// A flat parameter buffer in the making: networks are added one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// In order of offset, without gaps.
    pub tensors: Vec<Tensor>,
    /// Numbers in the buffer, padding included.
    pub len: u32,
}

impl Layout {
    /// Appends a matrix.
    pub fn add(&mut self, name: String, rows: u32, cols: u32) -> Tensor {
        let tensor = Tensor { name, rows, cols, offset: self.len };
        self.len += rows * tensor.stride();
        self.tensors.push(tensor.clone());
        tensor
    }

    /// Which tensor of this layout `tensor` is.
    pub fn index(&self, tensor: &Tensor) -> u32 {
        self.tensors.partition_point(|t| t.offset < tensor.offset) as u32
    }

    /// Parameters, padding not counted.
    pub fn num_parameters(&self) -> u32 {
        self.tensors.iter().map(Tensor::num_parameters).sum()
    }
}

/// y = x·W + b.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// W, `[inputs, outputs]`.
    pub weight: Tensor,
    /// b, `[1, outputs]`.
    pub bias: Tensor,
}

/// Linear layers with an activation between them; the last one is linear. One layer is a linear map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mlp {
    /// At least one.
    pub layers: Vec<Layer>,
    /// Follows every layer but the last.
    pub activation: Activation,
}

impl Mlp {
    /// A network of `sizes` = inputs, hidden widths …, outputs, appended to `layout` as `name.0.weight`,
    /// `name.0.bias`, `name.1.weight`, ….
    ///
    /// # Panics
    /// With fewer than two sizes.
    pub fn new(layout: &mut Layout, name: &str, sizes: &[u32], activation: Activation) -> Self {
        assert!(sizes.len() >= 2, "a network has inputs and outputs");
        let layers = sizes
            .windows(2)
            .enumerate()
            .map(|(i, size)| Layer {
                weight: layout.add(format!("{name}.{i}.weight"), size[0], size[1]),
                bias: layout.add(format!("{name}.{i}.bias"), 1, size[1]),
            })
            .collect();
        Self { layers, activation }
    }

    /// Length of an input vector.
    pub fn inputs(&self) -> u32 {
        self.layers[0].weight.rows
    }

    /// Length of an output vector.
    pub fn outputs(&self) -> u32 {
        self.layers[self.layers.len() - 1].weight.cols
    }

    /// Numbers a row that a forward pass keeps for the backward pass: the hidden layers' padded widths, summed.
    pub fn hidden_width(&self) -> u32 {
        self.layers[..self.layers.len() - 1].iter().map(|layer| layer.weight.stride()).sum()
    }

    /// Parameters, padding not counted.
    pub fn num_parameters(&self) -> u32 {
        self.layers.iter().map(|layer| layer.weight.num_parameters() + layer.bias.num_parameters()).sum()
    }

    /// Of each layer: where W and b lie, inputs, outputs with padding.
    pub fn table(&self) -> Vec<[u32; 4]> {
        let row = |layer: &Layer| [layer.weight.offset, layer.bias.offset, layer.weight.rows, layer.weight.stride()];
        self.layers.iter().map(row).collect()
    }

    /// The part of the flat buffer this network takes.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.layers[0].weight.range().start..self.layers[self.layers.len() - 1].bias.range().end
    }
}

/// How the mixing weights are made non-negative (or not).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Positivity {
    /// |x|, as in the paper; derivative 0 at 0.
    Abs,
    /// ln(1 + eˣ), smooth and never exactly 0.
    Softplus,
    /// x itself: monotonicity is lost, on purpose.
    Free,
}

/// QMIX's mixing network (Rashid et al. 2018, figure 2): its weights are made from the state s by hypernetworks,
/// Q_tot = ELU(q·W1(s) + b1(s))·w2(s) + V(s), with W1, w2 ≥ 0 so that ∂Q_tot/∂q_i ≥ 0 (equation 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixer {
    /// Agents, n.
    pub agents: u32,
    /// Width of the mixing layer, E, a multiple of 8.
    pub embed: u32,
    /// s → W1, n·E numbers as `[agent, embed]`.
    pub hyper_w1: Mlp,
    /// s → b1, E numbers.
    pub hyper_b1: Mlp,
    /// s → w2, E numbers.
    pub hyper_w2: Mlp,
    /// s → V, through E hidden units with ReLU.
    pub value: Mlp,
    /// What keeps W1 and w2 non-negative.
    pub positivity: Positivity,
}

impl Mixer {
    /// A mixer appended to `layout`. `hyper_layers` is 1 (linear) or 2 (with `hyper_hidden` ReLU units) for the
    /// hypernetworks of W1 and w2; b1's is linear.
    ///
    /// # Panics
    /// When `embed` is not a multiple of 8 or `hyper_layers` neither 1 nor 2.
    pub fn new(
        layout: &mut Layout,
        name: &str,
        agents: u32,
        state_len: u32,
        embed: u32,
        hyper_layers: u32,
        hyper_hidden: u32,
        positivity: Positivity,
    ) -> Self {
        assert!(embed > 0 && embed == padded(embed), "the mixing layer is a whole number of lanes wide");
        assert!(matches!(hyper_layers, 1 | 2), "hypernetworks have one or two layers");
        let mut net = |part: &str, sizes: &[u32]| Mlp::new(layout, &format!("{name}.{part}"), sizes, Activation::Relu);
        let mut hyper = |part: &str, outputs: u32| match hyper_layers {
            1 => net(part, &[state_len, outputs]),
            _ => net(part, &[state_len, hyper_hidden, outputs]),
        };
        let hyper_w1 = hyper("hyper_w1", agents * embed);
        let hyper_w2 = hyper("hyper_w2", embed);
        let hyper_b1 = net("hyper_b1", &[state_len, embed]);
        let value = net("value", &[state_len, embed, 1]);
        Self { agents, embed, hyper_w1, hyper_b1, hyper_w2, value, positivity }
    }

    /// Length of a state vector.
    pub fn state_len(&self) -> u32 {
        self.hyper_b1.inputs()
    }

    /// Numbers a row that a forward pass keeps for the backward pass.
    pub fn trace_width(&self) -> u32 {
        2 * self.agents * self.embed
            + 3 * self.embed
            + padded(1)
            + self.hyper_w1.hidden_width()
            + self.hyper_w2.hidden_width()
            + self.value.hidden_width()
    }

    /// Parameters, padding not counted.
    pub fn num_parameters(&self) -> u32 {
        [&self.hyper_w1, &self.hyper_b1, &self.hyper_w2, &self.value].iter().map(|net| net.num_parameters()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_mixer_has_its_number_of_parameters() {
        for (agents, state_len, expected) in [(2, 8, 1473), (3, 54, 10_593)] {
            let mut layout = Layout::default();
            let mixer = Mixer::new(&mut layout, "mixer", agents, state_len, 32, 1, 0, Positivity::Abs);
            assert_eq!(mixer.num_parameters(), expected);
            assert_eq!(layout.num_parameters(), expected);
        }
    }

    #[test]
    fn tensors_lie_one_after_the_other() {
        let mut layout = Layout::default();
        let net = Mlp::new(&mut layout, "agent", &[5, 12, 3], Activation::Relu);
        Mlp::new(&mut layout, "critic", &[2, 1], Activation::Tanh);
        let mut end = 0;
        for (i, tensor) in layout.tensors.iter().enumerate() {
            assert_eq!(tensor.range().start, end, "{}", tensor.name);
            assert_eq!(layout.index(tensor), i as u32);
            end = tensor.range().end;
        }
        assert_eq!(end, layout.len as usize);
        assert_eq!((net.inputs(), net.outputs(), net.hidden_width(), net.num_parameters()), (5, 3, 16, 111));
        assert_eq!(net.range(), 0..5 * 16 + 16 + 12 * 8 + 8);
    }
}
