//! Places of elements in space: a scale and a translation for each axis.

/// Steps of indices, then an offset: element `i` of an axis is at `scale * i + translation`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placement {
    pub scale: Vec<f64>,
    pub translation: Vec<f64>,
}

impl Placement {
    pub(crate) fn identity(rank: usize) -> Self {
        Self { scale: vec![1.0; rank], translation: vec![0.0; rank] }
    }

    /// This one, then a scale; false if the ranks differ.
    pub(crate) fn then_scale(&mut self, scale: &[f64]) -> bool {
        if scale.len() != self.scale.len() {
            return false;
        }
        for (at, factor) in scale.iter().enumerate() {
            self.scale[at] *= factor;
            self.translation[at] *= factor;
        }
        true
    }

    /// This one, then an offset; false if the ranks differ.
    pub(crate) fn then_translation(&mut self, translation: &[f64]) -> bool {
        if translation.len() != self.translation.len() {
            return false;
        }
        for (sum, offset) in self.translation.iter_mut().zip(translation) {
            *sum += offset;
        }
        true
    }
}
