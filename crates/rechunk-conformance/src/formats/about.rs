use rechunk_format::Layout;

/// The layout in words, before the sentence on it.
pub(super) fn about(layout: &dyn Layout) -> String {
    let spec = layout.spec();
    format!(
        "{} ({}), {:?} in chunks of {:?}, {}",
        layout.format_name(),
        layout.codec_summary(),
        spec.shape,
        spec.chunk_shape,
        spec.data_type
    )
}
