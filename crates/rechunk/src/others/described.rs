//! Other files that describe the arrays beside them, and are wrong where only a part of those is
//! copied.

use super::Others;

/// Names of such files, and what they describe.
const DESCRIPTIONS: [(&str, &str); 4] = [
    (
        "datasource-properties.json",
        "the layers, magnifications and bounding boxes of a WEBKNOSSOS dataset",
    ),
    ("METADATA.ome.xml", "all images of a conversion by bioformats2raw"),
    ("dataset.xml", "the images of a BigDataViewer dataset"),
    ("ro-crate-metadata.json", "the files of an RO-Crate"),
];

impl Others {
    /// Warnings about such files where members are left out or regions are copied.
    pub(crate) fn warnings_of_a_part(&self) -> Vec<String> {
        let said = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let (_, what) = DESCRIPTIONS.iter().find(|(known, _)| *known == name)?;
            Some(format!(
                "{path} describes {what}, of which only a part is copied: it is copied as it is"
            ))
        };
        self.files.iter().filter_map(|file| said(&file.path)).collect()
    }
}
