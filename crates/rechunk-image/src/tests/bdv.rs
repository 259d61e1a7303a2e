//! BigDataViewer: groups and XML.

use serde_json::json;

use super::image_of;
use crate::{
    BdvDataset, BdvSetup, Dialect, ImageError, bdv_dataset, bdv_xml, documents, read_bdv_xml,
};

fn setup(id: u64, name: &str) -> BdvSetup {
    BdvSetup {
        id,
        name: name.to_owned(),
        size_xyz: [7, 6, 5],
        voxel_size_xyz: [1.0, 1.0, 4.0],
        unit: "um".to_owned(),
        channel: id,
        angle: 0,
        translation_xyz: [0.0, 0.5, -2.0],
    }
}

#[test]
fn groups_are_those_of_pybdv() {
    let image = image_of(
        &["z", "y", "x"],
        &[5, 6, 7],
        (&[4.0, 1.0, 1.0], &[0.0; 3]),
        &[&[1, 1, 1], &[2, 2, 2]],
    );
    let documents = documents(&image, Dialect::BdvN5).unwrap();
    let setup = json!({"dataType": "uint16", "downsamplingFactors": [[1, 1, 1], [2, 2, 2]]});
    assert_eq!(json!(documents.group), setup);
    let timepoint = json!({"multiScale": true, "resolution": [1.0, 1.0, 4.0]});
    assert_eq!(json!(documents.timepoint), timepoint);
    assert_eq!(json!(documents.levels[1]), json!({"downsamplingFactors": [2, 2, 2]}));
}

#[test]
fn factors_of_groups_are_said_x_first() {
    let base: (&[f64], &[f64]) = (&[4.0, 1.0, 1.0], &[0.0; 3]);
    let image = image_of(&["z", "y", "x"], &[5, 6, 7], base, &[&[1, 1, 1], &[1, 2, 2]]);
    let documents = documents(&image, Dialect::BdvN5).unwrap();
    assert_eq!(documents.group["downsamplingFactors"][1], json!([2, 2, 1]));
    assert_eq!(json!(documents.levels[1]), json!({"downsamplingFactors": [2, 2, 1]}));
}

#[test]
fn axes_that_setups_do_not_have_are_refused() {
    let refused = |names: &[&str], factors: &[u64]| {
        let (ones, zeros) = (vec![1.0; names.len()], vec![0.0; names.len()]);
        let ones_of = vec![1; names.len()];
        let image = image_of(names, &vec![4; names.len()], (&ones, &zeros), &[&ones_of, factors]);
        documents(&image, Dialect::BdvN5)
            .is_err_and(|error| matches!(error, ImageError::Axes { .. }))
    };
    assert!(refused(&["y", "x"], &[2, 2]));
    assert!(refused(&["q", "z", "y", "x"], &[1, 2, 2, 2]));
    assert!(refused(&["t", "z", "y", "x"], &[2, 2, 2, 2]));
    assert!(!refused(&["t", "c", "z", "y", "x"], &[1, 1, 2, 2, 2]));
}

#[test]
fn an_image_has_a_setup_for_each_channel() {
    let image = image_of(
        &["t", "c", "z", "y", "x"],
        &[3, 2, 5, 6, 7],
        (&[1.0, 1.0, 4.0, 1.0, 1.0], &[0.0, 0.0, -2.0, 0.5, 0.0]),
        &[&[1, 1, 1, 1, 1]],
    );
    let dataset = bdv_dataset(&image, "b.n5").unwrap();
    assert_eq!(dataset.timepoints, 3);
    let mut expected = setup(1, "image channel 1");
    expected.unit = "pixel".to_owned();
    assert_eq!(dataset.setups[1], expected);
    assert_eq!(bdv_xml(&dataset).matches("<ViewRegistration ").count(), 6);

    let mut many = image;
    many.levels[0].shape[0] = u64::MAX;
    assert!(bdv_dataset(&many, "b.n5").is_err());
}

#[test]
fn the_xml_is_the_one_that_bigdataviewer_reads() {
    let setups = vec![setup(0, "a")];
    let text = bdv_xml(&BdvDataset { n5_path: "dataset.n5".to_owned(), setups, timepoints: 2 });
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let expected = [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
        "<SpimData version=\"0.2\">",
        "<BasePath type=\"relative\">.</BasePath>",
        "<SequenceDescription>",
        "<ImageLoader format=\"bdv.n5\" version=\"1.0\">",
        "<n5 type=\"relative\">dataset.n5</n5>",
        "</ImageLoader>",
        "<ViewSetups>",
        "<ViewSetup>",
        "<id>0</id>",
        "<name>a</name>",
        "<size>7 6 5</size>",
        "<voxelSize>",
        "<unit>um</unit>",
        "<size>1.0 1.0 4.0</size>",
        "</voxelSize>",
        "<attributes>",
        "<channel>0</channel>",
        "<angle>0</angle>",
        "</attributes>",
        "</ViewSetup>",
        "<Attributes name=\"channel\">",
        "<Channel>",
        "<id>0</id>",
        "<name>0</name>",
        "</Channel>",
        "</Attributes>",
    ];
    assert_eq!(lines[..expected.len()], expected);
    for line in [
        "<Timepoints type=\"range\">",
        "<last>1</last>",
        "<ViewRegistration timepoint=\"1\" setup=\"0\">",
        "<affine>1.0 0.0 0.0 0.0 0.0 1.0 0.0 0.5 0.0 0.0 4.0 -2.0</affine>",
        "</SpimData>",
    ] {
        assert!(lines.contains(&line), "{line}");
    }
}

#[test]
fn texts_are_escaped() {
    let name = "a<b> & \"c\" 'd' \u{1} é";
    let n5_path = "x&y.n5".to_owned();
    let dataset = BdvDataset { n5_path, setups: vec![setup(0, name)], timepoints: 1 };
    let text = bdv_xml(&dataset);
    assert!(text.contains("<name>a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos; \u{fffd} é</name>"));
    assert!(text.contains(">x&amp;y.n5</n5>"));
    assert_eq!(read_bdv_xml(&text).unwrap().setups[0].name, name.replace('\u{1}', "\u{fffd}"));
}

#[test]
fn an_xml_is_read_back() {
    let setups = vec![setup(0, "&amp;"), setup(3, "b")];
    let dataset = BdvDataset { n5_path: "a/b.n5".to_owned(), setups, timepoints: 4 };
    assert_eq!(read_bdv_xml(&bdv_xml(&dataset)), Some(dataset));
}

#[test]
fn an_xml_of_pybdv_is_read() {
    let text = r#"<SpimData version="0.2"><BasePath type="relative">.</BasePath>
      <SequenceDescription><ImageLoader format="bdv.n5"><n5 type="relative">b.n5</n5></ImageLoader>
      <ViewSetups>
      <Attributes name="channel"><Channel><id>0</id><name>0</name></Channel></Attributes>
      <ViewSetup><id>0</id><name>s</name><size>7 6 5</size>
      <voxelSize><unit>pixel</unit><size>1.0 1.0 4.0</size></voxelSize>
      <attributes><channel>0</channel></attributes></ViewSetup></ViewSetups>
      <Timepoints type="range"><first>0</first><last>0</last></Timepoints></SequenceDescription>
      <ViewRegistrations><ViewRegistration timepoint="0" setup="0">
      <ViewTransform type="affine"><affine>1.0 0 0 0 0 1.0 0 0 0 0 4.0 0</affine></ViewTransform>
      </ViewRegistration></ViewRegistrations></SpimData>"#;
    let dataset = read_bdv_xml(text).unwrap();
    assert_eq!(dataset.n5_path, "b.n5");
    assert_eq!(dataset.timepoints, 1);
    assert_eq!(dataset.setups[0].size_xyz, [7, 6, 5]);
    assert_eq!(json!(dataset.setups[0].voxel_size_xyz), json!([1.0, 1.0, 4.0]));
}
