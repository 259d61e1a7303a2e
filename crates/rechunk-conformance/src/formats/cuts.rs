/// Fate of stored bytes whose end is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cuts {
    /// They are refused, or decode to the same elements.
    Told,
    /// Some decode to other elements: the codec has no checksum, and more than one form.
    MayBeSilent,
}
